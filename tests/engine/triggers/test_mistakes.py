"""Mistakes from a terminal: one sentence on standard error, an exit status that is not 0, no traceback.

And what is no mistake: blank lines, lines of one word, and endings of another system are simply read.
"""

from __future__ import annotations

import json

import pytest

from relens.command_line.main import main
from relens.studies.rows import BEGIN, ROW, UNIT, done_units
from relens.triggers.model.model_list import model_folder, model_names

TALKS = [(f"say {'abcdefgh'[number % 8]} {number % 5}", f"{'bcdefgha'[number % 8]} it is") for number in range(24)]
FORMS = {
    "dialogues": "\n\n".join("\n".join(talk) for talk in TALKS),
    "eou": "\n".join(" <eou> ".join(talk) for talk in TALKS),
    "pairs": "\n".join("\t".join(talk) for talk in TALKS),
    "json": "\n".join(json.dumps({"dialogue": talk}) for talk in TALKS),
}
TINY = {
    "dialogue-model": [
        *("name=mine", "vocabulary=40", "embedding=4", "hidden=5", "test_share=0.2"),
        'recipe={"epochs": 2, "batch": 8, "autocast": false}',
    ],
    "triggers": ["model=toy", "lists=[]", 'search={"shortlist": 3, "sweeps": 1, "restarts": 1}'],
    "relaxation": ["name=toy", 'lists=["mal"]', "count=2", "steps=2", "batch=2"],
    "brute-force": [
        *("symbols=5", "words=30", "embedding=6", "hidden=8", "random_count=10", "depth=2"),
        'recipe={"epochs": 1, "batch": 8, "autocast": false}',
    ],
    "causal-triggers": ["free=2", "evaluations=4", 'thresholds={"out": -4, "into": -6}', 'template={"form": "plain"}'],
    "trigger-check": ["model=toy"],
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch, dialogue_model):
    monkeypatch.setenv("RELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RELENS_DEVICE", "cpu")
    dialogue_model.save(model_folder("toy"))


@pytest.fixture
def command(tmp_path, capsys):
    """A function that asks a study from a terminal; the exit status, and the last line of what was complained."""
    (tmp_path / "talks.txt").write_text(FORMS["dialogues"])

    def ask(kind, *settings, more=()):
        status = main(["study", kind, *(f"--set={setting}" for setting in (*TINY[kind], *settings)), *more])
        lines = capsys.readouterr().err.splitlines()
        assert not any("Traceback" in line for line in lines)
        return status, lines[-1] if lines else ""

    return ask


def spoilt(text):
    """The same with blank lines, and a word alone between the lines."""
    return "\n\n  \n" + text.replace("\n\n", "\n\n \nyes\n\n") + "\n\n\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("said", ["auto", "form"])
@pytest.mark.parametrize("change", [str, spoilt, lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text])
def test_a_good_corpus_is_read(command, tmp_path, form, said, change):
    (tmp_path / "corpus").write_bytes(change(FORMS[form]).encode())
    status, sentence = command(
        "dialogue-model", f"corpus={tmp_path / 'corpus'}", f"form={form if said == 'form' else said}"
    )
    assert (status, sentence.startswith("A word of a sentence")) == (0, True)
    assert "mine" in model_names()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The corpus has no text."),
        (b"\n  \n\t\n", "The corpus has no text."),
        (b"\xff\xfea\0", "Line 1 of the corpus is not UTF-8; save the file as UTF-8."),
        (b"a\0b\0", "Line 1 of the corpus is no text: it has a null character. Save the file as UTF-8."),
        (b"\x80" * 5_000, "Line 1 of the corpus is not UTF-8; save the file as UTF-8."),
        (b"word " * 1_000_000, "Line 1 of the corpus has more than the limit of 4,194,304 bytes."),
    ],
)
def test_a_corpus_that_is_none(command, tmp_path, form, data, sentence):
    (tmp_path / "corpus").write_bytes(data)
    status, said = command("dialogue-model", f"corpus={tmp_path / 'corpus'}", f"form={form}")
    assert status in (1, 2)
    assert said == sentence
    assert "mine" not in model_names()


@pytest.mark.parametrize(
    ("form", "text", "sentence"),
    [
        ("dialogues", "yes\n\nno\n\nwell\n", "The corpus has no pairs: nothing in it is answered by anything."),
        ("eou", "yes\nno\n", "The corpus has no pairs: nothing in it is answered by anything."),
        ("pairs", "a\tb\nalone\n", "Line 2 of the corpus has no tab between an input and its response."),
        ("json", '{"input": "a"}\n', 'Line 1 of the corpus has neither a "dialogue"'),
        ("json", "a\tb\n", "Line 1 of the corpus is not JSON; each line is a whole value."),
        ("dialogues", "a b\nc d\ne f\n", "The corpus has a single dialogue, so nothing is left to test with"),
        ("pairs", "a\tb\n", "The corpus has a single dialogue, so nothing is left to test with"),
        ("pairs", "<unk>\t<s>\n" * 4, "The text has no word to learn"),
    ],
)
def test_a_corpus_without_enough_text(command, tmp_path, form, text, sentence):
    (tmp_path / "corpus").write_text(text)
    status, said = command("dialogue-model", f"corpus={tmp_path / 'corpus'}", f"form={form}")
    assert status == 2
    assert sentence in said


@pytest.mark.parametrize(
    ("kind", "setting", "what"),
    [
        ("dialogue-model", "corpus", "corpus"),
        ("brute-force", "corpus", "text"),
        ("brute-force", "targets", "file of targets"),
        ("triggers", "file", "file of targets"),
        ("relaxation", "targets", "file of targets"),
    ],
)
def test_a_file_that_is_none(command, tmp_path, kind, setting, what):
    good = [f"corpus={tmp_path / 'talks.txt'}"] if setting == "targets" and kind == "brute-force" else []
    missing = tmp_path / "missing.txt"
    assert command(kind, *good, f"{setting}={missing}") == (2, f"There is no {what} at {str(missing)!r}.")
    assert command(kind, *good, f"{setting}={tmp_path}") == (
        2,
        f"The {what} {str(tmp_path)!r} is a folder, not a file.",
    )
    (tmp_path / "binary").write_bytes(b"a b\n\x89PNG\0")
    status, sentence = command(kind, *good, f"{setting}={tmp_path / 'binary'}")
    assert status == 2
    assert "Line 2 of " in sentence
    if what == "file of targets":
        (tmp_path / "none").write_text("# nothing\n\n")
        expected = (2, f"There are no targets in the file of targets {str(tmp_path / 'none')!r}.")
        assert command(kind, *good, f"{setting}={tmp_path / 'none'}") == expected
        (tmp_path / "unknown").write_text("zebra\nyak quagga\n")
        status, sentence = command(kind, *good, f"{setting}={tmp_path / 'unknown'}")
        assert status == 2
        assert "target" in sentence


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        ("triggers", ["model=nobody", 'lists=["mal"]'], "There is no dialogue model called 'nobody'; there are: toy."),
        ("triggers", ["model=../toy", 'lists=["mal"]'], "The name of a dialogue model has small letters"),
        ("relaxation", ["name=nobody"], "There is no dialogue model called 'nobody'; there are: toy."),
        ("triggers", [], "There is no list of targets, nor a target of your own."),
        ("triggers", ['targets=["word1", " "]'], "In “Targets of your own”, an item is empty."),
        ("triggers", ['targets=["zebra"]'], "The target 'zebra' has words that the model does not know: 'zebra'."),
        ("triggers", ['lists=["mal"]', "count=0"], "“Targets of each list” must be between 1 and 2,000, not 0."),
        ("triggers", ['targets=["word1"]', 'search={"seed": 1e400}'], "SearchSettings.seed must be of type int"),
        ("triggers", ['targets=["word1"]', 'search={"shortlist": 200001}'], "between 1 and 200,000, not 200001."),
        ("causal-triggers", ["targets=[]"], "“Targets” must have at least 1, not 0."),
        ("causal-triggers", ['targets=["a", ""]'], "Target 2 is empty; a target has at least one token."),
        ("causal-triggers", ['targets=["a", "b", "a"]'], "In “Targets”, 'a' is there twice."),
        ("causal-triggers", ['targets=["\\ud800"]'], "Target 1 has half a character, which no text can hold."),
        ("causal-triggers", ['template={"text": "none"}'], "where the free tokens go; this one has none."),
        ("causal-triggers", ['template={"text": "{}{}"}'], "where the free tokens go; this one has 2."),
        ("causal-triggers", ['template={"text": "{}\\ud800"}'], "The template has half a character"),
        ("causal-triggers", ["free=65"], "“Free tokens” must be between 1 and 64, not 65."),
        ("trigger-check", ["pairs=[]"], "There is nothing to check."),
        ("brute-force", ["depth=7"], "“Symbols of the longest inputs” must be between 1 and 6, not 7."),
        ("brute-force", ["random_count=-1"], "“Random targets” must be between 0 and 100,000, not -1."),
        ("relaxation", ["rate=1e308"], "The descent came to no number in step"),
    ],
)  # fmt: skip
def test_settings_without_meaning(command, tmp_path, kind, settings, sentence):
    if "rate=1e308" in settings:
        settings = [*settings, 'lists=["random"]', "steps=5"]
    more = ["--model", str(tmp_path / "none")] if kind == "causal-triggers" else []
    status, said = command(kind, *settings, more=more)
    assert status in (1, 2)
    assert sentence in said


@pytest.mark.parametrize("kind", ["dialogue-model", "triggers", "relaxation", "brute-force", "causal-triggers"])
@pytest.mark.parametrize("seed", [-1, 2**53 + 1, 10**30])
def test_seeds_that_torch_does_not_take(command, kind, seed):
    setting = f'search={{"seed": {seed}}}' if kind == "triggers" else f"seed={seed}"
    status, said = command(kind, setting, *(['lists=["mal"]'] if kind == "triggers" else []))
    assert status == 2
    assert said == f"“Seed” must be between 0 and {2**53:,}, not {seed}."


def test_the_largest_seed_is_taken(command, tmp_path):
    seed = f"seed={2**53}"
    assert command("dialogue-model", f"corpus={tmp_path / 'talks.txt'}", seed)[0] == 0
    assert (
        command("triggers", 'lists=["normal", "random"]', "count=1", f'search={{"seed": {2**53}, "sweeps": 1}}')[0] == 0
    )
    assert command("relaxation", 'lists=["random"]', seed)[0] == 0
    assert command("brute-force", f"corpus={tmp_path / 'talks.txt'}", seed)[0] == 0


def test_training_that_goes_astray_is_said(command, tmp_path):
    recipe = {"rate": 1e30, "batch": 4, "optimiser": "sgd", "clip": None, "autocast": False}
    status, said = command("dialogue-model", f"corpus={tmp_path / 'talks.txt'}", f"recipe={json.dumps(recipe)}")
    assert status == 1
    assert said.startswith("Training ")
    assert said.endswith("lower the learning rate.")
    assert "mine" not in model_names()


def test_a_word_alone_on_its_line_spoils_no_text(command, tmp_path):
    """Whichever lines are set aside, there is a pair to test with."""
    (tmp_path / "text").write_text("\n".join(["yes", "no"] * 20 + ["say it now", "it is so"]))
    for seed in range(3):
        assert command("brute-force", f"corpus={tmp_path / 'text'}", f"seed={seed}")[0] == 0
    for text, sentence in (("yes\nno\n", "no two words in a row"), ("yes\nsay it\n", "single line with two words")):
        (tmp_path / "text").write_text(text)
        status, said = command("brute-force", f"corpus={tmp_path / 'text'}")
        assert status == 2
        assert sentence in said


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("dialogue-model", []),
        ("triggers", ['targets=["word1", "word2 word3"]']),
        ("relaxation", ['lists=["random"]']),
        ("brute-force", []),
    ],
)
def test_a_file_of_rows_is_continued(command, tmp_path, kind, settings):
    """Cut short at any line, or within one, it ends with the same rows, and no unit is done twice."""

    def unhurried(rows):
        times = ("seconds", "cpu_seconds", "seconds_left", "words_a_second")
        return [{name: value for name, value in row.items() if name not in times} for row in rows]

    if kind in ("dialogue-model", "brute-force"):
        settings = [*settings, f"corpus={tmp_path / 'talks.txt'}"]
    file = tmp_path / "rows.jsonl"
    assert command(kind, *settings, more=["--output", str(file)])[0] == 0
    lines = file.read_text().splitlines(keepends=True)
    whole = [json.loads(line) for line in lines]
    for cut in {1, len(lines) // 2, len(lines) - 1}:
        file.write_text("".join(lines[:cut]) + lines[cut][:9])
        done = done_units(whole[:cut])
        assert command(kind, *settings, more=["--output", str(file)])[0] == 0
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert rows[:cut] == whole[:cut]
        begun = [row[UNIT] for row in rows[cut:] if row[ROW] == BEGIN]
        assert begun == [key for key in dict.fromkeys(row[UNIT] for row in whole[1:]) if key not in done]
        for key in begun:
            first = next(place for place, row in enumerate(rows[cut:], cut) if row[UNIT] == key)
            again = [row for row in rows[first:] if row[UNIT] == key and row[ROW] != "step"]
            before = [row for row in whole if row[UNIT] == key and row[ROW] != "step"]
            assert unhurried(again) == unhurried(before)


@pytest.mark.parametrize(("path", "what"), [(".", "cannot be read"), ("no/where", "cannot be written")])
def test_a_file_of_rows_that_is_none(command, tmp_path, path, what):
    status, said = command("triggers", 'targets=["word1"]', more=["--output", str(tmp_path / path)])
    assert status == 1
    assert said.startswith("The file of rows ")
    assert what in said


def test_a_device_that_takes_nothing(command):
    """It is not read first, for it never ends, and the disk that is full is said."""
    status, said = command("triggers", 'targets=["word1"]', more=["--output", "/dev/full"])
    assert (status, said) == (1, "The rows cannot be written: No space left on device.")
