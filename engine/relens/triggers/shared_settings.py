"""Settings that several studies around triggers have: the same label and bounds, with a help of each study's own.

seed: Annotated[int, replace(SEED, help="The same seed finds the same triggers.")] = 0
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from relens import query
from relens.setting import Setting

ListName = Literal["normal", "mal", "random"]
#: How the list "normal" is made of replies of the model.
Normal = Literal["sampled", "greedy"]
#: How the decoder sees the input (see `relens.triggers.model.seq2seq`).
Context = Literal["last", "general", "mlp-query"]

#: So small that torch, which counts to 2 to the 64th, takes a seed with an epoch added.
SEED = replace(query.SEED, most=2**53)

DIALOGUE_MODEL = Setting(
    "Dialogue model",
    "The model of the study, from the page Dialogue model; each one has other replies.",
)
LISTS = Setting(
    "Lists of targets",
    choices={
        "normal": "normal: what it says anyway",
        "mal": "mal: what it should never say",
        "random": "random: words in no order",
    },
)
COUNT = Setting(
    "Targets of each list",
    "More targets make narrower intervals, and take longer in proportion.",
    least=1,
    most=2_000,
)
OWN_TARGETS = Setting(
    "Targets of your own",
    "Replies to search triggers for, one a line. Targets with words that the model does not know are left out and "
    "listed.",
    most_items=2_000,
    example="you are so boring",
)
TARGET_FILE = Setting("File of targets", "One a line, UTF-8. As many of them are drawn as of the other lists.")
NORMAL = Setting(
    "Replies of the list “normal”",
    "**sampled**: drawn from words that are likely enough. **greedy**: always the likeliest word, as in the paper's "
    "figure of search effort.",
    choices={"sampled": "sampled", "greedy": "greedy"},
)

FINGERPRINT = Setting("Fingerprint", "Of the model of the search; empty for any of that name.")

CORPUS = Setting("Corpus", "A file of text; without one, the corpus that comes with Relens.")
IS_CUT = Setting(
    "Words are cut already",
    "Blanks stand between all words and signs, as in “do n't”. Off: the text is cut as in the paper.",
)
TEST_SHARE = Setting("Share set aside", "The part of the text for measurements.", above=0.0, below=1.0)
PAIRS = Setting("Pairs at most", least=1, ceiling=3_000_000, empty="all")
CONTEXT = Setting(
    "Decoder context",
    "**Its last state**: one summary of the whole input. **Attention**: at each word of the reply, all places of the "
    "input with new weights. The paper tries both.",
    choices={"last": "its last state", "general": "attention", "mlp-query": "attention, authors' variant"},
)
EMBEDDING = Setting("Embedding size", "Numbers for each word. The paper has 300.", least=1, most=4_096)
HIDDEN = Setting("Hidden size", "Numbers of each state, the model's memory of the input.", least=1, most=4_096)
