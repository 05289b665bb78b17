"""The terms of the glossary that a page uses, for the line at its foot.

    Words on this page: state · arc · final · ...        each with its meaning as a tooltip, and a link to the glossary

A term in a heading, a column or a setting has its help there; a term in a sentence or a drawing has not. So every page
lists its terms, in the order in which a reader meets them.
"""

from __future__ import annotations

from urllib.parse import quote

from relens_dashboard.glossary import find_term
from relens_dashboard.text import as_html

_QUESTION = ("regular expression", "prefix", "pattern", "encoding", "canonical", "top-k", "top-p", "temperature")
_STATISTICS = ("share", "interval", "chi-squared", "p-value", "Cramér's V")

#: The terms of a page, by the last part of its address.
PAGE_WORDS: dict[str, tuple[str, ...]] = {
    "": ("language model", "regular expression", "string", "automaton", "token", "probability", "match"),
    "workbench": (
        *_QUESTION,
        "boundary",
        "edit distance",
        "automaton",
        "state",
        "arc",
        "final",
        "match",
        "rank",
        "mass",
        "log-probability",
        "nat",
        "sample",
        "weight",
        "effective sample size",
        "distribution",
        "expansion",
    ),
    "bias": (
        *_STATISTICS,
        "Wilson interval",
        "residual",
        "Holm correction",
        "effect size",
        "significance",
        "sample",
        "weight",
        "effective sample size",
        "distribution",
        "prefix",
        "encoding",
        "canonical",
        "edit distance",
    ),
    "cloze": ("prefix", "pattern", "rank", "share", "interval", "p-value", "expansion", "end of text", "token"),
    "knowledge": ("prompt", "pattern", "rank", "probability", "log-probability", "nat", "share", "token", "greedy"),
    "memorization": (
        "regular expression",
        "prefix",
        "pattern",
        "match",
        "sample",
        "encoding",
        "canonical",
        "top-k",
        "recall",
        "precision",
        "seed",
    ),
    "toxicity": (
        "prompt",
        "encoding",
        "canonical",
        "edit distance",
        "expansion",
        "share",
        "interval",
        "log-probability",
    ),
    "brute-force": ("nat", "share", "interval", "Wilson interval", "greedy", "seed"),
    "causal-triggers": ("prompt", "token", "log-probability", "nat", "greedy", "seed"),
    "dialogue-model": ("perplexity", "nat", "log-probability", "seed"),
    "prompt-check": ("prompt", "token", "log-probability", "nat", "greedy"),
    "relaxation": ("nat", "share", "interval", "greedy", "seed"),
    "trigger-ablation": ("share", "interval", "Wilson interval", "nat", "greedy", "seed"),
    "trigger-check": ("log-probability", "nat", "probability", "greedy"),
    "triggers": (*("log-probability", "nat", "probability", "greedy", "share", "interval"), "Wilson interval", "seed"),
    "automata": (
        "regular expression",
        "state",
        "arc",
        "start",
        "final",
        "NFA",
        "epsilon arc",
        "DFA",
        "minimal DFA",
        "edit distance",
        "byte",
        "token",
        "encoding",
        "pre-token",
        "merge",
        "canonical",
        "top-k",
    ),
    "tokens": (
        "token",
        "tokenizer",
        "vocabulary",
        "pre-token",
        "merge",
        "encoding",
        "canonical",
        "lattice",
        "probability",
        "log-probability",
        "expansion",
        "interval",
    ),
    "replay": (
        "shortest path",
        "frontier",
        "expansion",
        "log-probability",
        "nat",
        "state",
        "match",
        "mass",
        "rank",
        "top-k",
        "canonical",
        "edit distance",
        "sample",
        "weight",
    ),
    "glossary": (),
    "history": ("match", "seed", "sample", "distribution"),
    "compare": (*_STATISTICS, "Holm correction", "effect size", "sample", "weight", "seed", "rank", "canonical"),
    "present": ("probability", "share", "interval", "mass", "match"),
}


def words_html(page: str) -> str:
    """The line as HTML; "" for a page without terms. The links open another tab, so that no work is lost."""
    words = PAGE_WORDS.get(page, ())
    if not words:
        return ""
    links = " · ".join(_link(word) for word in words)
    return f'<nav class="relens-words" aria-label="Words on this page"><span>Words on this page:</span> {links}</nav>'


def _link(word: str) -> str:
    entry = find_term(word)
    shown = entry.word if not entry.word[1:].islower() else entry.word.lower()
    return (
        f'<a href="glossary?glossary_search={quote(entry.word)}" target="_blank" rel="noopener" '
        f'title="{as_html(f"{entry.meaning} Example: {entry.example}")}">{as_html(shown)}</a>'
    )
