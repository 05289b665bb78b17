"""The encodings of a text as pictures: tokens in colours, and the lattice with the canonical path marked."""

from __future__ import annotations

from collections.abc import Sequence

from relens.learn.text_encodings import Piece, TextEncodings
from relens.pictures.drawing import Marks, arc_name
from relens_dashboard.picture import Picture, picture_of
from relens_dashboard.text import as_html

#: Hues of the tokens in a row, after Okabe and Ito; neighbours differ, and each token has a frame of its own too.
_HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def encodings_picture(encodings: TextEncodings) -> Picture:
    """The lattice: places named by the characters read, the canonical path marked, a reason with every other arc."""
    return picture_of(encodings.graph, encodings_marks(encodings))


def encodings_marks(encodings: TextEncodings) -> Marks:
    """The marks and notes of the lattice."""
    arcs = list(zip(encodings.graph.arcs, encodings.arcs, strict=True))
    canonical = [arc for arc, drawn in arcs if drawn.is_canonical]
    return Marks(
        states={state: "canonical" for arc in canonical for state in (arc.source, arc.target)},
        arcs={arc_name(arc): "canonical" for arc in canonical},
        state_names=dict(enumerate(encodings.names)),
        state_notes={
            state: "The tokenizer cuts the text here before it merges: no canonical token crosses this place."
            for state in encodings.cuts
            if 0 < state < encodings.graph.shown_states - 1
        },
        arc_notes={
            arc_name(arc): "This token is in the canonical encoding." if drawn.is_canonical else drawn.why
            for arc, drawn in arcs
        },
    )


def pieces_html(pieces: Sequence[Piece]) -> str:
    """Tokens side by side, each in a hue of its own, with its number below."""
    chips = [
        f'<span class="token" role="listitem" style="--hue:{_HUES[place % len(_HUES)]}">'
        f"{as_html(piece.label)}<small>{piece.token}</small></span>"
        for place, piece in enumerate(pieces)
    ]
    return f'<div class="relens-pieces" role="list" aria-label="Tokens with their numbers">{"".join(chips)}</div>'


def count_words(count: int) -> str:
    """A number of encodings: in full below 10^15, then as a power of ten."""
    if count < 10**15:
        return f"{count:,}"
    digits = str(count)
    return f"{digits[0]}.{digits[1]} × 10^{len(digits) - 1}"


def count_sentence(encodings: TextEncodings) -> str:
    """The number of encodings, and its bound 2^(n-1)."""
    if not encodings.count:
        return "The text has no encoding: some of its bytes have no token in this vocabulary."
    many = f"{count_words(encodings.count)} {'encoding' if encodings.count == 1 else 'encodings'}"
    if encodings.bytes == 1:
        return f"This text of one byte has {many}."
    power = f"2^{encodings.bytes - 1} = {count_words(encodings.at_most)}"
    if encodings.count == encodings.at_most:
        return (
            f"This text of {encodings.bytes} bytes has {many}, the most possible: {power}, a cut or none at each place"
            " between two bytes."
        )
    return (
        f"This text of {encodings.bytes} bytes has {many}. If every piece of it were a token, it would have {power}: a"
        " cut or none at each place between two bytes."
    )
