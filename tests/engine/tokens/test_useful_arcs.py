"""How many arcs there are, guessed before they are made, against making them."""

from __future__ import annotations

import numpy as np
import pytest

from relens.language.compile import compile_language
from relens.query import Edits, Encoding, Limits, Query
from relens.tokens.annotated import annotate
from relens.tokens.byte_level import byte_level_tables
from relens.tokens.encoded import token_automaton
from relens.tokens.tokenizer import Tokenizer
from relens.tokens.useful_arcs import estimate_arcs, walk_annotated
from tests.engine.tokens.helpers import FINITE, OPEN

CASES = [(pattern, 0) for pattern in (FINITE["bias"], FINITE["date"], *OPEN.values(), r"https://www\.[a-z0-9]+")]
CASES += [("cat|dog", 1), (FINITE["bias"], 1), ("cat|dog", 2)]


@pytest.mark.parametrize(("pattern", "edits"), CASES)
def test_the_first_look_is_seldom_too_low_and_a_closer_one_is_close(real: Tokenizer, pattern: str, edits: int) -> None:
    tables = byte_level_tables(real)
    assert tables is not None
    whole = compile_language(Query(pattern, edits=Edits(edits)), Limits()).whole
    annotated = annotate(whole, tables.boundaries, 50_000)
    assert annotated is not None
    trie = real.vocabulary.trie
    arcs = len(walk_annotated(annotated, trie, np.arange(annotated.states)).tokens)
    assert estimate_arcs(annotated, trie, enough=10**12) > 0.9 * arcs
    if arcs > 5_000:
        assert arcs / 2 < estimate_arcs(annotated, trie, enough=0) < 2 * arcs


def test_one_edit_anywhere_is_worked_out_ahead(smollm2: Tokenizer) -> None:
    """So that there are no dead ends: the first byte alone promises millions of arcs where there are thousands."""
    whole = compile_language(Query(FINITE["bias"], edits=Edits(1)), Limits()).whole
    assert not token_automaton(whole, smollm2, Encoding.CANONICAL, Limits()).may_have_dead_ends
