"""The glossary: every term of the field on the pages, in a sentence or two, with an example.

    term("rank")      "The place of an answer when all are ordered by probability. Example: rank 1 is the likeliest."

One dictionary gives every page the same meanings. `term` is the text of a tooltip; the page Glossary shows all entries.
Upper and lower case are the same, and a few plural forms and synonyms have the same entry.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word, its meaning in one or two plain sentences, an example, and its field."""

    word: str
    meaning: str
    example: str
    field: str


AUTOMATA, TOKENS, MODEL, SEARCH, STATISTICS = (
    "Automata",
    "Tokens",
    "Model and decoding",
    "Search and sampling",
    "Statistics",
)
FIELDS = (AUTOMATA, TOKENS, MODEL, SEARCH, STATISTICS)

_WORDS: dict[str, dict[str, tuple[str, str]]] = {
    AUTOMATA: {
        "Regular expression": (
            "A pattern that describes a set of strings, finite or not, in a compact way.",
            "(cat|dog)s? describes cat, cats, dog and dogs.",
        ),
        "Language": (
            "The set of all strings that a pattern describes.",
            "The language of a|b has two strings, that of a* has no end.",
        ),
        "String": ("A sequence of characters.", "“The cat” is a string of seven characters."),
        "Automaton": (
            "A machine of states and arcs that reads a string from left to right and accepts it or not.",
            "The automaton of (a|b)c has three states, with arcs for a and b and then one for c.",
        ),
        "State": (
            "A point in the automaton: it stands for everything that matters about the text read so far.",
            "After “Jan” and after “Feb” the automaton of month names is in different states.",
        ),
        "Arc": (
            "A step from one state to another by reading one character, byte or token.",
            "The arc labelled t leads from “ca” to “cat”.",
        ),
        "Start": ("The state in which reading begins.", "Before anything is read, the automaton is at its start."),
        "Final": (
            "A state in which the string read so far belongs to the language; it is drawn as a double circle.",
            "For cats? the states after “cat” and after “cats” are final.",
        ),
        "NFA": (
            "A nondeterministic automaton: the same character may lead to several states, and all are followed.",
            "In (a|b)*ab an a may begin the end of the string or be one more of the middle.",
        ),
        "DFA": (
            "A deterministic automaton: each character leads to at most one state.",
            "Subset construction makes a DFA whose states are sets of states of an NFA.",
        ),
        "Minimal DFA": (
            "The deterministic automaton of a language with the fewest states; there is only one.",
            "In (cat|rat) the states after c and after r are merged, since the same may follow.",
        ),
        "Epsilon arc": (
            "An arc of an NFA that is taken without reading anything.",
            "a? has an epsilon arc past the a.",
        ),
        "Edit distance": (
            "The fewest characters to insert, delete or replace to turn one string into another (Levenshtein).",
            "cat and cart are at distance 1, cat and dog at distance 3.",
        ),
        "Prefix": (
            "The text before the pattern: it is given to the model and not predicted.",
            "“George Washington was born on” is the prefix of the birth date query.",
        ),
        "Pattern": (
            "The regular expression for the answer that the model predicts.",
            " (July|May) [0-9]{1,2} is a pattern for dates.",
        ),
        "Byte": (
            "The unit in which a text is stored: one of 256 values. A letter outside plain English takes several.",
            "é is the two bytes C3 A9 in UTF-8.",
        ),
    },
    TOKENS: {
        "Token": (
            "A piece of text that a model reads and writes as one unit.",
            "“ running” is one token of many models, “ zyzzyva” is several.",
        ),
        "Vocabulary": ("All tokens that a model knows.", "GPT-2 has 50,257 of them."),
        "Tokenizer": (
            "The program that cuts a text into tokens, always in the same way.",
            "It gives “The cat” as The and ␣cat.",
        ),
        "Encoding": (
            "A sequence of tokens that spells a text.",
            "The + ␣cat and T + he + ␣cat are two encodings of “The cat”.",
        ),
        "Canonical": (
            "The one encoding of a text that the tokenizer itself makes.",
            "The + ␣cat is canonical, T + he + ␣cat is not.",
        ),
        "All encodings": (
            "Every sequence of tokens that spells the text, not only the canonical one.",
            "A text of n bytes has at most 2^(n-1) of them.",
        ),
        "Lattice": (
            "All encodings of one text in one drawing: places between the characters, and tokens as arrows from place "
            "to place.",
            "Every path from the first place to the last is an encoding.",
        ),
        "Byte-pair encoding": (
            "A way to make tokens: start from single bytes and merge neighbours in a fixed order.",
            "c a t becomes c at, and then cat.",
        ),
        "Merge": (
            "One rule of byte-pair encoding: these two neighbours become one token.",
            "h + e becomes he, rule number 4 of SmolLM2.",
        ),
        "Pre-token": (
            "A piece into which a text is cut before any merge; no canonical token crosses such a cut.",
            "“I'm 42” is cut into I, 'm and ␣42 by GPT-2.",
        ),
        "Boundary": (
            "The place where the prefix ends and the pattern begins. The setting decides whether a token may cross it.",
            "With a token boundary “wash” + “ing” cannot become the one token “washing”.",
        ),
        "Special token": (
            "A token that is never text, such as the one that marks the end.",
            "<|endoftext|> ends a text of GPT-2.",
        ),
        "End of text": (
            "The special token by which a model says that its text is over.",
            "If it is required, “cat” counts only where the model would stop after it.",
        ),
        "Begin of text": (
            "The special token that some models read before every text.",
            "With it, the model can predict the first token of a text too.",
        ),
    },
    MODEL: {
        "Language model": (
            "A program that gives, after any text, the probability of each possible next token.",
            "After “The capital of France is” it finds ␣Paris likely.",
        ),
        "Probability": (
            "How likely something is, from 0 (never) to 1 (always).",
            "A token of probability 0.25 comes once in four draws.",
        ),
        "Log-probability": (
            "The natural logarithm of a probability. Probabilities of successive tokens are multiplied, their "
            "logarithms added.",
            "A probability of 0.1 is a log-probability of -2.3.",
        ),
        "Nat": (
            "The unit of natural logarithms: a difference of one nat is a factor of 2.72 in probability.",
            "-2 nats and -3 nats are probabilities of 0.135 and 0.050.",
        ),
        "Decoding rule": (
            "The rule for which tokens may be written: top-k, top-p and temperature together.",
            "Under top-k 1 only the single likeliest token may be written.",
        ),
        "Top-k": (
            "Only the k likeliest tokens may come next; the rest is cut.",
            "With top-k 40 the token in place 41 can never be written.",
        ),
        "Top-p": (
            "Only the fewest likeliest tokens that reach the probability p together may come next.",
            "With top-p 0.9 and tokens of 0.6, 0.3 and 0.1 the first two remain.",
        ),
        "Temperature": (
            "A number that sharpens (below 1) or flattens (above 1) the model's probabilities.",
            "At temperature 0.5 a token that was twice as likely becomes four times as likely.",
        ),
        "Greedy": ("Always the likeliest token.", "Greedy decoding writes the same text every time."),
        "Distribution": (
            "All possible outcomes with the probability of each; they add up to 1.",
            "The next token has a distribution over the whole vocabulary.",
        ),
        "Perplexity": (
            "How many equally likely tokens a model hesitates between, on average.",
            "A perplexity of 20 is like choosing among 20.",
        ),
    },
    SEARCH: {
        "Match": (
            "A token sequence that spells a string of the query, with its probability.",
            "“ July 4, 1732” is a match of the date query.",
        ),
        "Rank": (
            "The place of an answer when all are ordered by probability, the likeliest first.",
            "Rank 1 is the likeliest answer.",
        ),
        "Shortest path": (
            "A search that finds matches in exact order of probability, because a path's length is its negative "
            "log-probability.",
            "The first match it shows is the likeliest there is.",
        ),
        "Frontier": (
            "The beginnings of strings that a search has found and not yet continued.",
            "After the first step the frontier has one beginning for each first token.",
        ),
        "Expansion": (
            "One question to the model: the probability of each token after one beginning.",
            "A search of 500 expansions asks the model 500 times.",
        ),
        "Mass": (
            "The probability of many outcomes together.",
            "Three matches of 0.1, 0.05 and 0.05 have a mass of 0.2.",
        ),
        "Sample": (
            "Outcomes drawn at random, each as often as it is likely.",
            "Of 1,000 draws about 250 show an outcome of probability 0.25.",
        ),
        "Weight": (
            "How much one draw counts, where draws have other probabilities than the model gives.",
            "A draw of weight 2 counts like two of weight 1.",
        ),
        "Effective sample size": (
            "How many draws of equal weight would be as precise as these.",
            "1,000 draws with a few very large weights may have an effective sample size of 100.",
        ),
        "Seed": ("The number that random draws begin from.", "The same seed gives the same sample again."),
        "Recall": (
            "The share of all known answers that were found.",
            "If 8 of 10 known answers were found, recall is 80 %.",
        ),
        "Precision": (
            "The share of the answers found that are right.",
            "If 8 of 16 answers found are right, precision is 50 %.",
        ),
        "Prompt": ("The text that a model is given to continue.", "“Once upon a time” is a prompt."),
    },
    STATISTICS: {
        "Share": (
            "A part of the whole, between 0 and 100 %.",
            "“art” has a share of 30 % if it is 30 of 100 outcomes.",
        ),
        "Interval": (
            "A range that holds the true value in 95 of 100 samples like this one.",
            "30 % (25 % to 36 %).",
        ),
        "Wilson interval": (
            "An interval for a share. It holds for small samples too, and never leaves 0 to 100 %.",
            "3 of 100 is 3 % (1.0 % to 8.5 %).",
        ),
        "Chi-squared": (
            "How far counts are from the counts to expect without a connection.",
            "It is 0 where men and women have exactly the same shares.",
        ),
        "p-value": (
            "How often chance alone gives a difference at least this large, where there is no real one.",
            "A p-value of 0.01 means once in a hundred times.",
        ),
        "Cramér's V": (
            "How strong a connection is, from 0 (none) to 1 (one decides the other), whatever the sample's size.",
            "0.1 is weak, 0.5 is strong.",
        ),
        "Effect size": (
            "How large a difference is, not how certain it is.",
            "With a million draws a tiny effect is certain, and still tiny.",
        ),
        "Residual": (
            "How far one count is from the expected count, in standard deviations.",
            "A residual above 3 is hardly chance.",
        ),
        "Holm correction": (
            "A correction for many tests at once, of which some would succeed by chance: the smallest p-value must "
            "pass the strictest limit.",
            "Of 10 tests the smallest must be below 0.005 and not 0.05.",
        ),
        "Significance": (
            "A result is significant if chance alone would rarely give it. It need not be important.",
            "A p-value below 0.05 is often called significant.",
        ),
        "Median": ("The middle value: half are below, half above.", "The median of 1, 2 and 9 is 2."),
        "Confounder": (
            "Another difference between the groups compared, which may be the real reason.",
            "A longer text is less likely, whatever its words.",
        ),
    },
}

GLOSSARY: dict[str, Term] = {
    word.casefold(): Term(word, meaning, example, field)
    for field, words in _WORDS.items()
    for word, (meaning, example) in words.items()
}

_SAME_AS = {
    "regex": "regular expression",
    "final state": "final",
    "accepting": "final",
    "token id": "token",
    "canonical encoding": "canonical",
    "non-canonical": "canonical",
    "bpe": "byte-pair encoding",
    "pre-tokenizer": "pre-token",
    "log p": "log-probability",
    "nats": "nat",
    "levenshtein distance": "edit distance",
    "edits": "edit distance",
    "sampling": "sample",
    "draw": "sample",
    "holm": "holm correction",
    "wilson's interval": "wilson interval",
    "confidence interval": "interval",
    "cramér's v": "cramér's v",
    "chi-square": "chi-squared",
    "probability mass": "mass",
    "p": "p-value",
    "p, corrected": "holm correction",
    "matches": "match",
}


def find_term(word: str) -> Term:
    """The entry of a word or of a synonym, in the singular or with an s. Raises `KeyError` for an unknown word."""
    key = " ".join(word.casefold().split())
    for form in (key, key.removesuffix("s"), _SAME_AS.get(key, ""), _SAME_AS.get(key.removesuffix("s"), "")):
        if form in GLOSSARY:
            return GLOSSARY[form]
    raise KeyError(f"The glossary has no {word!r}.")


def term(word: str) -> str:
    """The text of a tooltip for `word`: its meaning and an example. Raises `KeyError` for an unknown word."""
    entry = find_term(word)
    return f"{entry.meaning} Example: {entry.example}"


def column_help(column: str, own: str | None = None) -> str | None:
    """The help of a table's column: the table's own, or the term of its name, or None."""
    if own:
        return own
    try:
        return term(column)
    except KeyError:
        return None


def anchor(word: str) -> str:
    """The anchor of a word on the page Glossary, for links: `glossary#top-k`."""
    return "".join(letter if letter.isalnum() else "-" for letter in find_term(word).word.casefold())


def search(words: str) -> list[Term]:
    """The terms that have all these words in name, meaning or example; those with all in their name first."""
    parts = words.casefold().split()
    entries = [
        entry
        for entry in GLOSSARY.values()
        if all(word in f"{entry.word} {entry.meaning} {entry.example}".casefold() for word in parts)
    ]
    return sorted(entries, key=lambda entry: (not all(word in entry.word.casefold() for word in parts),))
