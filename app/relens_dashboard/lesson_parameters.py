"""The parameters in the addresses of the lessons' pages, which are the keys of the widgets bound to them too."""

from __future__ import annotations

#: Of the page of automata: the pattern, whether edits count, the step, the text to count, the model, and the decoder's
#: top-k.
LESSON, EDITS, STEP, TEXT, LESSON_MODEL = "lesson", "lesson_edits", "lesson_step", "lesson_text", "lesson_model"
TOP_K = "lesson_top_k"

#: Of the page of tokens: the text, the model, what comes before the text, and the run of what the model sampled.
TOKENS_TEXT, TOKENS_MODEL, TOKENS_PREFIX = "tokens_text", "tokens_model", "tokens_prefix"
SAMPLES = "samples"
