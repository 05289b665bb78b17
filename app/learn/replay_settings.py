"""What a recorded search is asked: the few settings that a small search needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import streamlit as st

from app.studies.view import Figure, Rows, StudyView, Table
from engine.query import Encoding
from engine.studies.replay import MOST_BATCH, MOST_EXPANSIONS, MOST_MATCHES, ReplayStudy
from engine.studies.study import Study

_ENCODINGS: Final = {"All": Encoding.ALL, "Canonical": Encoding.CANONICAL}
_RANKS: Final = {"Prefix and pattern": "joint", "Pattern alone": "conditional"}
_LONGEST = 300


class ReplayView(StudyView):
    """Settings alone: what a replay found is not figures but steps (`app.learn.replay_player`)."""

    kind = "replay"
    introduction = ""
    notice = ""

    def settings(self, study: Study) -> Study:
        """See `StudyView`."""
        first = study if isinstance(study, ReplayStudy) else ReplayStudy()
        grid = st.grid(2, min_column_width=300, gap="small")
        with grid.cell():
            prefix = st.text_input(
                "Prefix",
                first.prefix,
                key="replay_prefix",
                max_chars=_LONGEST,
                help="What the model is given to go on from. A regular expression too; no rule cuts anything in it.",
            )
        with grid.cell():
            pattern = st.text_input(
                "Pattern",
                first.pattern,
                key="replay_pattern",
                max_chars=_LONGEST,
                help="The form of the answer, a regular expression. A small one makes a search that can be followed.",
            )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            encoding = st.segmented_control(
                "Encoding",
                list(_ENCODINGS),
                default=_named(_ENCODINGS, first.encoding),
                required=True,
                key="replay_encoding",
                help="**All**: every way to spell a string in tokens is a path of its own. **Canonical**: only the way "
                "the tokenizer itself would; one path for each string, and a smaller automaton.",
            )
            rank = st.segmented_control(
                "Cost of",
                list(_RANKS),
                default=_named(_RANKS, first.rank),
                required=True,
                key="replay_rank",
                help="What the order of matches goes by: how likely prefix and pattern are together, or the pattern "
                "given its prefix.",
            )
            top_k = st.number_input(
                "Top-k",
                1,
                None,
                first.top_k,
                key="replay_top_k",
                width=110,
                placeholder="no rule",
                help="The decoder takes only the k likeliest of all tokens at each step; the others, and everything "
                "below them, are cut. Empty: nothing is cut.",
            )
            batch = st.number_input(
                "Paths to a forward",
                1,
                MOST_BATCH,
                first.batch,
                key="replay_batch",
                width=150,
                help="With 1 the search is Dijkstra's: the cheapest path alone. With more it also opens the next ones "
                "ahead of need; the order of the matches is the same.",
            )
            matches = st.number_input(
                "Matches",
                1,
                MOST_MATCHES,
                first.matches,
                key="replay_matches",
                width=110,
                help="The search ends when so many are shown.",
            )
            expansions = st.number_input(
                "At most, paths asked",
                1,
                MOST_EXPANSIONS,
                first.expansions,
                key="replay_expansions",
                width=160,
                help="It ends at the latest when the model was asked about so many.",
            )
        return replace(
            first,
            prefix=prefix,
            pattern=pattern,
            encoding=_ENCODINGS[encoding],
            rank=_RANKS[rank],
            top_k=top_k,
            batch=batch,
            matches=matches,
            expansions=expansions,
        )

    def figures(self, rows: Rows, study: Study) -> list[Figure]:
        """None: see the class."""
        return []

    def tables(self, rows: Rows, study: Study) -> list[Table]:
        """None: see the class."""
        return []


def _named(names: Mapping[str, object], value: object) -> str:
    return next(name for name, known in names.items() if known == value)
