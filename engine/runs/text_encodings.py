"""The encodings of texts for the dashboard: worked out in limited child processes, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.learn.text_encodings import TextEncodings
from engine.query import Limits
from engine.runs.warm_answers import WarmAnswers

#: A text is refused after so many seconds; most take milliseconds.
TEXT_LIMITS = Limits(compile_seconds=4.0)


class TextEncoder(WarmAnswers[TextEncodings]):
    """Encodings of texts, worked out in child processes; see `WarmAnswers`."""

    def __init__(self, pool_size: int = 1, call: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None) -> None:
        super().__init__(
            "engine.learn.text_encodings:text_encodings_job",
            pool_size,
            warm_up="engine.learn.text_encodings:warm_up",
            read=lambda reply: TextEncodings.from_json(reply["encodings"]),
            subject="Counting the encodings",
            call=call,
        )

    def encodings(self, text: str, model: str) -> TextEncodings:
        """The encodings of `text` for the tokenizer of `model`.

        Raises what `engine.learn.text_encodings` raises, and `ModelError` for a model that is unknown or not allowed.
        """
        return self.ask({"text": text, "model": model, "limits": TEXT_LIMITS.to_json()})
