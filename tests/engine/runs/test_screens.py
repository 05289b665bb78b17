"""Decks of screens in SQLite: order, edits, undo, limits, and the way to another store and back."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from relens.errors import LimitError, QueryError
from relens.runs import screens as module
from relens.runs.screens import Screen, ScreenStore, read_deck
from relens.runs.store import Store


@pytest.fixture
def store(tmp_path):
    made = ScreenStore(f"sqlite:///{tmp_path / 'runs.db'}")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path):
    """A function that makes one more empty folder: an example of Hypothesis must not see the last one's database."""
    numbers = itertools.count()

    def make():
        made = tmp_path / str(next(numbers))
        made.mkdir()
        return made

    return make


def screen(title, **more):
    return Screen(title, ("It is so.",), ("One model.",), "Look left.", '{"data": []}', "bars", **more)


def titles(store, deck=""):
    return [one.title for one in store.all(deck)]


def test_screens_come_in_the_order_in_which_they_were_pinned(store):
    kept = [store.add(screen(title)) for title in "abc"]
    assert titles(store) == ["a", "b", "c"]
    assert [one.position for one in store.all()] == [0, 1, 2]
    assert store.get(kept[1].id) == kept[1]
    assert kept[1].id
    assert kept[1].created > 0


def test_the_same_is_not_pinned_twice_even_when_it_was_edited_since(store):
    first = store.add(screen("a"))
    store.edit(first.id, title="mine", explanation="Look right.")
    again = store.add(screen("a"))
    assert again.id == first.id
    assert again.title == "mine"
    assert store.has(screen("a"))
    assert not store.has(screen("b"))
    store.delete(first.id)
    assert not store.has(screen("a"))
    assert store.add(screen("a")).id != first.id


@pytest.mark.parametrize(
    ("by", "order"), [(1, "acbd"), (-1, "bacd"), (2, "acdb"), (9, "acdb"), (-9, "bacd"), (0, "abcd")]
)
def test_a_screen_is_moved_at_most_to_an_end(store, by, order):
    kept = [store.add(screen(title)) for title in "abcd"]
    store.move(kept[1].id, by)
    assert titles(store) == list(order)


@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 5)), max_size=8))
def test_moves_are_those_of_a_list(folder, moves):
    store = ScreenStore(f"sqlite:///{folder()}/runs.db")
    ids = [store.add(screen(title)).id for title in "abcde"]
    expected = list(ids)
    for which, by in moves:
        place = expected.index(ids[which])
        moved = expected.pop(place)
        expected = [*expected[: max(place + by, 0)], moved, *expected[max(place + by, 0) :]]
        store.move(ids[which], by)
    assert [one.id for one in store.all()] == expected
    store.close()


def test_a_deleted_screen_comes_back_to_its_place(store):
    kept = [store.add(screen(title)) for title in "abc"]
    store.delete(kept[1].id)
    assert titles(store) == ["a", "c"]
    assert store.get(kept[1].id) is None
    with pytest.raises(QueryError, match="not in its deck"):
        store.edit(kept[1].id, title="x")
    store.restore(kept[1].id)
    assert titles(store) == ["a", "b", "c"]


def test_a_screen_deleted_long_ago_is_gone(store, monkeypatch):
    kept = store.add(screen("a"))
    store.delete(kept.id)
    monkeypatch.setattr(module, "RESTORED_WITHIN", -1.0)
    store.add(screen("b"))
    with pytest.raises(QueryError, match="gone for good"):
        store.restore(kept.id)


def test_decks_are_apart(store):
    kept = store.add(screen("a"))
    store.add(screen("a", deck="Monday"))
    assert store.decks() == {"": 1, "Monday": 1}
    store.transfer(kept.id, "Tuesday")
    assert store.decks() == {"": 0, "Monday": 1, "Tuesday": 1}
    assert titles(store, "Tuesday") == ["a"]


def test_only_words_can_be_edited_and_are_checked(store):
    kept = store.add(screen("a"))
    assert store.edit(kept.id, sentences=("Now so.",)).sentences == ("Now so.",)
    assert store.all()[0].sentences == ("Now so.",)
    for wrong in ({"figure": "x"}, {"title": " "}, {"caveats": 3}):
        with pytest.raises(QueryError):
            store.edit(kept.id, **wrong)
    with pytest.raises(LimitError):
        store.edit(kept.id, explanation="x" * 30_000)


@pytest.mark.parametrize(
    "large",
    [
        {"figure": "ä" * (module.LONGEST_FIGURE // 2 + 1)},
        {"explanation": "x" * (module.LONGEST_TEXT + 1)},
        {"table": (("x",) * 201,)},
        {"deck": "x" * 81},
        {"source": {"x" * 20_001: ""}},
    ],
)
def test_a_screen_that_is_too_large_is_refused(store, large):
    with pytest.raises(LimitError):
        store.add(replace(screen("a"), **large))
    assert store.decks() == {"": 0}


def test_a_deck_and_the_number_of_decks_are_limited(store, monkeypatch):
    monkeypatch.setattr(module, "MOST_SCREENS", 2)
    monkeypatch.setattr(module, "MOST_DECKS", 2)
    first = store.add(screen("a"))
    store.add(screen("b"))
    with pytest.raises(LimitError, match="2 screens"):
        store.add(screen("c"))
    store.delete(first.id)
    store.add(screen("c"))
    with pytest.raises(LimitError, match="2 screens"):
        store.restore(first.id)
    store.add(screen("a", deck="Monday"))
    with pytest.raises(LimitError, match="2 decks"):
        store.add(screen("a", deck="Tuesday"))


text = st.text(st.characters(codec=None), max_size=20)


@hypothesis_settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(
            Screen,
            title=text.map(lambda words: f"t{words}"),
            sentences=st.lists(text, max_size=2).map(tuple),
            explanation=text,
            figure=text,
            table=st.lists(st.lists(text, max_size=2).map(tuple), max_size=2).map(tuple),
            source=st.dictionaries(text, text, max_size=2),
        ),
        max_size=4,
    )
)
def test_a_deck_reaches_another_store_unchanged(folder, given_screens):
    one, other = ScreenStore(f"sqlite:///{folder()}/a.db"), ScreenStore(f"sqlite:///{folder()}/b.db")
    for made in given_screens:
        one.add(made)
    written = one.export()
    assert other.load(written, "there") == len(one.all())
    assert other.load(written, "there") == 0
    bare = {"id": "", "deck": "", "created": 0.0}
    assert [replace(s, **bare) for s in other.all("there")] == [replace(s, **bare) for s in one.all()]
    one.close()
    other.close()


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"format": "relens-screens", "version": 2, "screens": []}',
        '{"format": "relens-screens", "version": 1, "screens": [3]}',
        '{"format": "relens-screens", "version": 1, "screens": [{"title": 3}]}',
        '{"format": "relens-screens", "version": 1, "screens": [{"title": "a", "script": "x"}]}',
    ],
)
def test_a_file_that_is_no_deck_is_refused_in_a_sentence(store, wrong):
    with pytest.raises(QueryError):
        read_deck(wrong)


def test_a_file_is_taken_whole_or_not_at_all(store):
    described = [{"title": "fine"}, {"title": "x", "figure": "x" * (module.LONGEST_FIGURE + 1)}]
    with pytest.raises(LimitError):
        store.load(json.dumps({"format": module.FORMAT, "version": 1, "screens": described}))
    assert titles(store) == []


def test_screens_and_runs_share_one_database(tmp_path):
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    runs, screens = Store(url), ScreenStore(url)
    screens.add(screen("a"))
    assert runs.find() == []
    assert titles(ScreenStore(url)) == ["a"]


def test_the_name_of_a_deck_is_one_that_every_database_keeps(store):
    with pytest.raises(QueryError, match="name of a deck"):
        store.add(screen("a", deck="\ud800"))
    with pytest.raises(QueryError, match="name of a deck"):
        store.transfer(store.add(screen("a")).id, "\0")


def test_cards_are_the_screens_without_their_figures(store):
    kept = [store.add(screen("a"), "{}"), store.add(screen("b")), store.add(replace(screen("c"), figure=""))]
    cards = store.cards()
    assert [card.screen for card in cards] == [replace(one, figure="") for one in kept]
    assert [card.preview for card in cards] == ["{}", None, None]
    assert [card.has_figure for card in cards] == [True, True, False]
    store.delete(kept[0].id)
    assert [card.screen.position for card in store.cards()] == [0, 1]


def test_a_small_picture_is_kept_with_its_screen(store):
    kept = store.add(screen("a"))
    store.keep_preview(kept.id, "<svg/> \ud800")
    store.edit(kept.id, title="mine")
    (card,) = store.cards()
    assert (card.preview, card.screen.title) == ("<svg/> \ud800", "mine")
    assert store.get(kept.id).figure == kept.figure
    store.keep_preview("nobody", "x")
    with pytest.raises(LimitError, match="60,000"):
        store.keep_preview(kept.id, "x" * 60_001)
    with pytest.raises(LimitError):
        store.add(screen("b"), "x" * 60_001)


def test_a_deck_leaves_without_its_small_pictures(store, tmp_path):
    store.add(screen("a"), "SMALL")
    text = store.export()
    assert "SMALL" not in text
    other = ScreenStore(f"sqlite:///{tmp_path / 'other.db'}")
    other.load(text)
    assert [(card.preview, card.has_figure) for card in other.cards()] == [(None, True)]
    other.close()
