"""From bytes to character classes: an automaton that reads UTF-8 and tells the class of each character it completes.

Pre-tokenizers cut between characters, tokens are bytes. For the classes letter and other, é is the bytes C3 A9 and a
letter, × is C3 97 and other:

    0 --C3--> node of C3 --A9--> 0, "letter"
                         --97--> 0, "other"

Node 0 is "between characters". Nodes with the same behaviour are one: the 64 last bytes of most characters are all of
one class, so some hundreds of nodes serve all of Unicode. Only valid UTF-8 is read: no surrogates, no long forms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relens.tokens.character_sets import CODE_POINTS

NONE = -1
_SURROGATES = slice(0xD800, 0xE000)


@dataclass(frozen=True, eq=False)
class ClassDecoder:
    """next_node, completes: (nodes, 256) int32; the node a byte leads to, or the class of the character it completes.

    Exactly one of the two is not NONE where a byte is allowed. After a completed character the node is 0.
    """

    next_node: npt.NDArray[np.int32]
    completes: npt.NDArray[np.int32]


def class_decoder(class_edges: npt.NDArray[np.int64], class_ids: npt.NDArray[np.int64]) -> ClassDecoder:
    """The decoder for classes given as stretches of code points: class_ids[i] from class_edges[i] on."""
    sizes = np.diff(np.append(class_edges, CODE_POINTS))
    of_character = np.repeat(class_ids, sizes).astype(np.int32)
    of_character[_SURROGATES] = NONE

    next_node = [np.full((1, 256), NONE, np.int32)]
    completes = [np.full((1, 256), NONE, np.int32)]
    completes[0][0, :0x80] = of_character[:0x80]
    count = 1

    def add(rows: npt.NDArray[np.int32], is_last_byte: bool) -> npt.NDArray[np.int32]:
        """Nodes for rows of 64 continuations, the same node for the same row; NONE for a row of nothing."""
        nonlocal count
        as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * 64))).ravel()
        _, example, node = np.unique(as_bytes, return_index=True, return_inverse=True)
        different = rows[example]
        full = np.full((len(different), 256), NONE, np.int32)
        full[:, 0x80:0xC0] = different
        next_node.append(np.full_like(full, NONE) if is_last_byte else full)
        completes.append(full if is_last_byte else np.full_like(full, NONE))
        numbers = np.where((different == NONE).all(axis=1), NONE, count + np.arange(len(different)))
        count += len(different)
        return numbers[node.ravel()].astype(np.int32)

    last = add(of_character.reshape(-1, 64), is_last_byte=True)  # by code point >> 6
    next_node[0][0, 0xC2:0xE0] = last[2:32]
    three = last[: 0x10000 >> 6].reshape(16, 64).copy()
    three[0, :32] = NONE  # E0 80 to E0 9F would be long forms
    next_node[0][0, 0xE0:0xF0] = add(three, is_last_byte=False)
    four = add(last.reshape(-1, 64), is_last_byte=False)  # by code point >> 12
    by_lead = np.full((5, 64), NONE, np.int32)
    by_lead.ravel()[: len(four)] = four
    by_lead[0, :16] = NONE  # F0 80 to F0 8F would be long forms
    next_node[0][0, 0xF0:0xF5] = add(by_lead, is_last_byte=False)
    return ClassDecoder(np.concatenate(next_node), np.concatenate(completes))
