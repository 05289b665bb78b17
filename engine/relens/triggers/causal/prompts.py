"""The ids that a model reads: those before the trigger, the trigger's own, those behind it, and the target's.

    <|im_start|> user \\n    [ ! mean words ]    <|im_end|> \\n ... assistant \\n    You are rude <|im_end|>
    before                  trigger             after                             target

A search finds ids, but people paste text. If the tokenizer makes other ids of that text, they paste something that was
never tried: `st` + `upid` are two tokens side by side, and `stupid` is one. So a trigger counts only if it survives:
its text is put into the prompt, the tokenizer encodes the whole prompt, and the very same ids come
out. Candidates that do not survive are dropped, and counted. As a trigger that spells the name of a special token would
become that token, it does not survive either.

The target is encoded by itself, for the model writes it token by token after a finished prompt; the token
that ends a text belongs to it unless the reply may go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import tokenizers

from relens.errors import LimitError, ModelError, QueryError
from relens.tokens.tokenizer import Tokenizer
from relens.triggers.causal.template import Frame
from relens.triggers.losses import TriggerPrompt

MOST_FREE, MOST_TARGET = 64, 64

#: A text that is longer than this is no target, and is not encoded to find that out.
MOST_TARGET_CHARACTERS = 4096

#: Characters of the longest text that is scored, and tokens of a greedy reply beyond those of the target.
MOST_CHARACTERS, REPLY_BEYOND = 4_000, 16

#: Words to look behind a frame with.
_PROBES = ("x", " x", ".", "a b")


class Prompt(TriggerPrompt):
    """A prompt with `free` tokens for a trigger, and one target. before, after: ids around the trigger."""

    def __init__(
        self,
        frame: Frame,
        tokenizer: Tokenizer,
        target: str,
        free: int,
        *,
        ends: bool = True,
        ascii_only: bool = True,
        end_of_input: int | None = None,
    ) -> None:
        """`end_of_input` is a token behind every input, for models that have one. Raises errors with a sentence."""
        check_free(free)
        self.frame, self.free, self.ends = frame, free, ends
        self.tokenizer = tokenizer
        self._whole = tokenizers.Tokenizer.from_str(tokenizer.to_json())
        self._whole.no_truncation()
        self._whole.no_padding()
        self._begin: tuple[int, ...] = ()
        if frame.chat is None and tokenizer.begin_of_text is not None:
            self._begin = (tokenizer.begin_of_text,)
        self._end = () if end_of_input is None else (end_of_input,)
        self.before = (*self._begin, *self._encoded(frame.left))
        self.after = (*self._right(), *self._end)
        self.target = target_ids(tokenizer, target, ends)
        self.longest_reply = len(self.target) + REPLY_BEYOND
        self.allowed = allowed_tokens(tokenizer, ascii_only)
        if not self.allowed:
            raise ModelError("The model's tokenizer has no printable tokens to make a trigger of.")

    @property
    def length(self) -> int:
        """Tokens of the prompt and the target together."""
        return len(self.before) + self.free + len(self.after) + len(self.target)

    def text(self, trigger: Sequence[int]) -> str:
        """See `TriggerPrompt.text`."""
        return self.tokenizer.decode(trigger, continues=bool(self.frame.left))

    def ids(self, trigger: Sequence[int]) -> tuple[int, ...]:
        """See `TriggerPrompt.ids`."""
        return (*self.before, *trigger, *self.after)

    def read(self, text: str) -> tuple[int, ...]:
        """See `TriggerPrompt.read`."""
        if not text:
            raise QueryError("There is no text to put into the prompt.")
        if len(text) > MOST_CHARACTERS:
            raise LimitError(f"A text has at most {MOST_CHARACTERS:,} characters, not {len(text):,}.", limit="text")
        if not self.frame.is_kept(text):
            raise QueryError(
                "The model's chat format changes this text; often it is the blanks around it that are cut."
            )
        return self.ids_around(text)

    def around(self, text: str) -> str:
        """See `TriggerPrompt.around`."""
        return self.frame.around(text)

    def tokens(self, ids: Sequence[int]) -> tuple[str, ...]:
        """See `TriggerPrompt.tokens`."""
        return tuple(self.tokenizer.token_text(token) for token in ids)

    def written(self, reply: Sequence[int]) -> str:
        """See `TriggerPrompt.written`; models have spare columns, which are no tokens."""
        return self.tokenizer.decode([token for token in reply if token < self.tokenizer.size], continues=True)

    def ids_around(self, text: str) -> tuple[int, ...]:
        """The ids of the whole prompt with this text in the slot, as the tokenizer encodes it."""
        return (*self._begin, *self._encoded(self.frame.around(text)), *self._end)

    def ids_of(self, text: str) -> tuple[int, ...]:
        """See `TriggerPrompt.ids_of`; of the text by itself, where it merges with the text around it."""
        whole, end = self.ids_around(text), len(self.after)
        begins = whole[: len(self.before)] == self.before
        if begins and len(whole) > len(self.before) + end and whole[len(whole) - end :] == self.after:
            return whole[len(self.before) : len(whole) - end]
        return tuple(self.tokenizer.encode(text, continues=bool(self.frame.left)))

    def survives(self, trigger: Sequence[int]) -> bool:
        """See `TriggerPrompt.survives`, and the module."""
        try:
            text = self.tokenizer.decode_bytes(trigger, continues=bool(self.frame.left)).decode("utf-8")
        except UnicodeDecodeError:
            return False
        if self.ids_around(text) != self.ids(trigger):
            return False
        return text == text.strip() or self.frame.is_kept(text)

    def _encoded(self, text: str) -> list[int]:
        return list(self._whole.encode(text, add_special_tokens=False).ids) if text else []

    def _right(self) -> list[int]:
        for probe in _PROBES if self.frame.right else ():
            alone, both = self._encoded(probe), self._encoded(probe + self.frame.right)
            if both[: len(alone)] == alone:
                return both[len(alone) :]
        return self._encoded(self.frame.right)


def check_free(free: int) -> None:
    """Raises `LimitError` for too many free tokens, or none."""
    if not 1 <= free <= MOST_FREE:
        raise LimitError(f"A trigger has between 1 and {MOST_FREE} free tokens, not {free}.", limit="free")


def target_ids(tokenizer: Tokenizer, target: str, ends: bool) -> tuple[int, ...]:
    """The ids of a target, with the end of the text where it `ends`. Raises errors with a sentence."""
    if len(target) > MOST_TARGET_CHARACTERS:
        raise LimitError(f"A target has at most {MOST_TARGET_CHARACTERS:,} characters.", limit="target")
    ids = tokenizer.encode(target, continues=True)
    if not ids:
        raise QueryError("A target has at least one token; this one is empty.")
    if ends:
        if tokenizer.end_of_text is None:
            raise ModelError("The model has no token that ends a text, so no reply can end.")
        ids.append(tokenizer.end_of_text)
    if len(ids) > MOST_TARGET:
        said = repr(target if len(target) <= 60 else target[:60] + "...")
        raise LimitError(f"The target {said} has {len(ids)} tokens, more than {MOST_TARGET}.", limit="target")
    return tuple(ids)


@lru_cache(maxsize=4)
def allowed_tokens(tokenizer: Tokenizer, ascii_only: bool) -> tuple[int, ...]:
    """The tokens of which triggers are made: printable text that encodes to the token itself, and no special ones."""
    tokens = []
    for token, spelling in enumerate(tokenizer.vocabulary.token_bytes):
        if not spelling or token in tokenizer.special_tokens or token in tokenizer.text_tokens:
            continue
        try:
            text = spelling.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if not text.isprintable() or (ascii_only and not text.isascii()):
            continue
        if tokenizer.encode(text, continues=True) == [token]:
            tokens.append(token)
    return tuple(tokens)
