"""Slots, chat formats, and what is refused."""

from __future__ import annotations

import json

import pytest

from relens.errors import LimitError, ModelError, QueryError
from relens.triggers.causal.template import ChatFormat, Template, chat_format, make_frame
from tests.engine.triggers.causal.conftest import CHAT


@pytest.mark.parametrize(("text", "slots"), [("no slot", "none"), ("{} and {}", "2"), ("", "none")])
def test_a_template_has_one_slot(text, slots):
    with pytest.raises(QueryError, match=f"this one has {slots}"):
        Template(text)


def test_a_template_is_not_endless():
    with pytest.raises(LimitError, match="at most"):
        Template("{}" + "a" * 20_000)


def test_a_plain_frame_is_the_text_itself():
    frame = make_frame(Template("say {} now", "plain"))
    assert (frame.left, frame.right) == ("say ", " now")
    assert frame.around(" x ") == "say  x  now"


def test_a_chat_frame_is_the_formatted_message():
    frame = make_frame(Template("say {} now"), CHAT)
    assert frame.around("this") == "<|endoftext|>user say this now<|endoftext|>assistant "
    assert frame.around("this") == CHAT.prompt("say this now")
    assert frame.is_kept(" this ")


def test_a_format_that_trims_messages_is_detected():
    trimming = ChatFormat("{{ messages[0]['content'] | trim }}!")
    assert not make_frame(Template("{}"), trimming).is_kept(" this")
    assert make_frame(Template("{}"), trimming).is_kept("this")
    assert make_frame(Template("say {} now"), trimming).is_kept(" this ")


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("no message", "exactly once"),
        ("{{ messages[0]['content'] }}{{ messages[0]['content'] }}", "exactly once"),
        ("{{ raise_exception('no') }}", "cannot be used"),
        ("{{ ''.__class__.__mro__ }}", "cannot be used"),
        ("{% for", "cannot be used"),
    ],
)
def test_a_format_that_cannot_be_used_gets_one_sentence(program, sentence):
    with pytest.raises(ModelError, match=sentence):
        make_frame(Template("{}"), ChatFormat(program))


def test_without_a_chat_format_there_is_no_chat():
    with pytest.raises(ModelError, match="take a plain template"):
        make_frame(Template("{}"))


def test_formats_are_read_from_the_files_of_models(tmp_path):
    assert chat_format(tmp_path) is None
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": "A", "bos_token": {"content": "<s>"}, "eos_token": None}))
    assert chat_format(tmp_path) == ChatFormat("A", {"bos_token": "<s>"})
    several = [{"name": "tools", "template": "B"}, {"name": "default", "template": "C"}]
    path.write_text(json.dumps({"chat_template": several}))
    assert chat_format(tmp_path) == ChatFormat("C")
    (tmp_path / "chat_template.jinja").write_text("D")
    assert chat_format(tmp_path) == ChatFormat("D")
