"""All encodings of a text for a learner: their number, their lattice, and a sentence on each token.

    the     4 encodings, as many as 2^2         · --t--> t --h--> h --e--> e     every arc with a sentence: why it is
            canonical: the (1820)               ·  ----the------------> e        not canonical, or that it is

The places of the lattice (`relens.tokens.token_lattice`) are the states of the picture. A state is named by the byte
before it, so the row of states reads as the text. Of a long text all encodings are counted, but only its beginning is
drawn: a picture of 200 places shows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from relens.pictures.graphs import Graph, GraphArc
from relens.pictures.labels import token_label, tokens_label, visible_bytes
from relens.record import Record
from relens.tokens.refusals import Refusals
from relens.tokens.token_lattice import TokenArc, TokenLattice, token_lattice
from relens.tokens.tokenizer import Tokenizer

#: Most characters that are drawn.
DRAWN_CHARACTERS = 40
#: Most encodings that are written out.
WRITTEN_OUT = 12


@dataclass(frozen=True)
class Piece(Record):
    """One token of an encoding. label: its text with blanks made visible; in_canonical: at this very place."""

    token: int
    label: str
    in_canonical: bool


@dataclass(frozen=True)
class DrawnArc(Record):
    """The arc in the same place of the graph. why: the reason why it is not canonical, "" where it is."""

    is_canonical: bool
    why: str


@dataclass(frozen=True)
class TextEncodings(Record):
    """The encodings of one text by one tokenizer.

    count: their number; at_most: 2^(n-1) for n bytes. canonical: () where the tokenizer changes the text. fewest: those
    with the fewest tokens, fewest first. graph: the lattice of the first `drawn_characters`; names: of its states, in
    order; arcs: of its arcs, in order. cuts: the states at which the pre-tokenizer cuts, () if not known.
    """

    text: str
    characters: int
    bytes: int
    count: int
    at_most: int
    canonical: tuple[Piece, ...]
    fewest: tuple[tuple[Piece, ...], ...]
    graph: Graph
    drawn_characters: int
    names: tuple[str, ...]
    arcs: tuple[DrawnArc, ...]
    cuts: tuple[int, ...]


def text_encodings(text: str, tokenizer: Tokenizer, drawn_characters: int = DRAWN_CHARACTERS) -> TextEncodings:
    """All encodings of `text`; raises what `token_lattice` raises."""
    lattice = token_lattice(text, tokenizer)
    drawn = lattice if len(text) <= drawn_characters else token_lattice(text[:drawn_characters], tokenizer)
    refusals = Refusals(drawn, tokenizer)
    graph, arcs = _graph(drawn, refusals, tokenizer, _note(text, drawn_characters))
    canonical = set(lattice.canonical_path)
    return TextEncodings(
        text=text,
        characters=len(text),
        bytes=len(lattice.spelled),
        count=lattice.count,
        at_most=lattice.at_most,
        canonical=_pieces(lattice, lattice.canonical or (), canonical, tokenizer),
        fewest=tuple(_pieces(lattice, tokens, canonical, tokenizer) for tokens in lattice.fewest(WRITTEN_OUT)),
        graph=graph,
        drawn_characters=len(drawn.text),
        names=_names(drawn.data),
        arcs=arcs,
        cuts=refusals.cuts or (),
    )


def _note(text: str, drawn_characters: int) -> str:
    if len(text) <= drawn_characters:
        return ""
    return f"The first {drawn_characters} of {len(text)} characters are drawn, as if the text ended there."


def _graph(
    lattice: TokenLattice, refusals: Refusals, tokenizer: Tokenizer, note: str
) -> tuple[Graph, tuple[DrawnArc, ...]]:
    """The picture; tokens with the same bytes are one arc."""
    canonical = set(lattice.canonical_path)
    bundles: dict[tuple[int, int], list[TokenArc]] = {}
    for arc in lattice.arcs:
        bundles.setdefault((arc.source, arc.target), []).append(arc)
    graph_arcs, drawn = [], []
    for (source, target), arcs in bundles.items():
        label = tokens_label([arc.token for arc in arcs], tokenizer)
        graph_arcs.append(GraphArc(source, target, label, len(arcs), False))
        is_canonical = any(arc in canonical for arc in arcs)
        drawn.append(DrawnArc(is_canonical, "" if is_canonical else refusals.sentence(arcs[0])))
    end = len(lattice.spelled)
    graph = Graph(
        start=0,
        finals=(end,) if bundles else (),
        shown_states=end + 1,
        arcs=tuple(graph_arcs),
        unfinished=(),
        total_states=len({0, *(arc.target for arc in lattice.arcs)}),
        total_arcs=len(lattice.arcs),
        note=note,
    )
    return graph, tuple(drawn)


def _names(data: bytes) -> tuple[str, ...]:
    """The character that ends at each place; inside a character of several bytes, the byte."""
    names = ["·"]
    begin = 0
    for place in range(1, len(data) + 1):
        try:
            names.append(visible_bytes(data[begin:place].decode().encode()))
            begin = place
        except UnicodeDecodeError:
            names.append(visible_bytes(data[place - 1 : place]))
    return tuple(names)


def _pieces(
    lattice: TokenLattice, tokens: tuple[int, ...], canonical: set[TokenArc], tokenizer: Tokenizer
) -> tuple[Piece, ...]:
    ends = {(arc.source, arc.token): arc for arc in lattice.arcs}
    pieces, place = [], 0
    for token in tokens:
        arc = ends[place, token]
        pieces.append(Piece(token, token_label(token, tokenizer), arc in canonical))
        place = arc.target
    return tuple(pieces)
