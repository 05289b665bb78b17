"""The place of a trigger's free tokens: one slot in a text, inside a model's chat format or by itself.

    Template("Tell me {} now.", "plain")       Tell me ______ now.
    Template("Tell me {} now.", "chat")        <|im_start|>user
                                               Tell me ______ now.<|im_end|>
                                               <|im_start|>assistant

The chat format is a program that comes with a model's tokenizer, in the language Jinja. Such a program may change a
message: some take the blanks off its ends. So it is run in the sandbox of transformers with a mark in place of the
slot, and the text before and behind the mark is the frame. A trigger with blank ends is put through the program itself,
and counts only if it comes out unchanged.

Names of special tokens in a frame are these tokens, as everywhere where such formats are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from relens.errors import LimitError, ModelError, QueryError
from relens.record import Record
from relens.setting import Setting, check_settings
from relens.triggers.text_files import check_text

SLOT = "{}"

MOST_CHARACTERS = 20_000

#: Stands in for a trigger; private characters, which no format changes.
_MARK = "\ue0f0\ue0f1"


@dataclass(frozen=True)
class Template(Record):
    """A text with one slot, as a message of the user (form "chat") or as it is ("plain")."""

    text: Annotated[
        str,
        Setting(
            "Prompt, with {} for the free tokens",
            "The text around the trigger, which stands at {}.",
        ),
    ] = SLOT
    form: Annotated[
        Literal["chat", "plain"],
        Setting(
            "Written as",
            "**chat**: as a message of the user, in the model's own chat format. **plain**: as the beginning of a text "
            "that the model continues.",
            choices={"chat": "chat", "plain": "plain"},
        ),
    ] = "chat"

    def __post_init__(self) -> None:
        check_settings(self)
        slots = self.text.count(SLOT)
        if slots != 1:
            has = "none" if slots == 0 else str(slots)
            raise QueryError(f"A template has one {SLOT}, where the free tokens go; this one has {has}.")
        check_text(self.text, "The template")
        if len(self.text) > MOST_CHARACTERS:
            raise LimitError(f"A template has at most {MOST_CHARACTERS:,} characters.", limit="template")

    def filled(self, trigger: str) -> str:
        """The text with a trigger in its slot."""
        return self.text.replace(SLOT, trigger)


@dataclass(frozen=True)
class ChatFormat:
    """The chat format of a model. names: special tokens by their names in the program, such as "bos_token"."""

    program: str
    names: Mapping[str, str] = field(default_factory=dict)

    def prompt(self, message: str) -> str:
        """What the model reads before it answers this message. Raises `ModelError` for a program that fails."""
        from transformers.utils.chat_template_utils import render_jinja_template

        conversation = [{"role": "user", "content": message}]
        try:
            rendered, _ = render_jinja_template(
                [conversation], chat_template=self.program, add_generation_prompt=True, **self.names
            )
        except Exception as error:  # the program may raise anything
            raise ModelError(f"The model's chat format cannot be used ({type(error).__name__}).") from error
        return str(rendered[0])


@dataclass(frozen=True)
class Frame:
    """The text around a trigger. `chat` is None for a plain template, whose text is all there is."""

    template: Template
    left: str
    right: str
    chat: ChatFormat | None = None

    def around(self, trigger: str) -> str:
        """The whole prompt."""
        return self.left + trigger + self.right

    def is_kept(self, trigger: str) -> bool:
        """Whether the chat format leaves this trigger as it is, by trying."""
        return self.chat is None or self.chat.prompt(self.template.filled(trigger)) == self.around(trigger)


def make_frame(template: Template, chat: ChatFormat | None = None) -> Frame:
    """The frame of a template; `chat` is needed for the form "chat" only.

    Raises `ModelError` where there is no chat format, or where it does not repeat the message once.
    """
    if template.form == "plain":
        left, right = template.text.split(SLOT)
        return Frame(template, left, right)
    if chat is None:
        raise ModelError("The model has no chat format; take a plain template.")
    parts = chat.prompt(template.filled(_MARK)).split(_MARK)
    if len(parts) != 2:
        raise ModelError("The model's chat format does not repeat the message exactly once; take a plain template.")
    return Frame(template, parts[0], parts[1], chat)


def chat_format(folder: Path) -> ChatFormat | None:
    """The chat format in a model folder, None where there is none.

    It is read from tokenizer_config.json or chat_template.jinja; of several the one called "default" is taken.
    """
    from relens.models.files import read_json

    configuration = read_json(folder / "tokenizer_config.json")
    path = folder / "chat_template.jinja"
    program: Any = path.read_text(encoding="utf-8") if path.is_file() else configuration.get("chat_template")
    if isinstance(program, list):
        named = {str(item.get("name")): item.get("template") for item in program if isinstance(item, dict)}
        program = named.get("default")
    if not isinstance(program, str) or not program:
        return None
    names = {}
    for name in ("bos_token", "eos_token", "pad_token", "unk_token"):
        token = configuration.get(name)
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            names[name] = token
    return ChatFormat(program, names)


def chat_format_of(model_name: str) -> ChatFormat | None:
    """The chat format of a model by its name. Raises `ModelError` for a model that there is not."""
    from relens.models.catalogue import resolve
    from relens.models.files import model_folder

    return chat_format(model_folder(resolve(model_name), weights=True))
