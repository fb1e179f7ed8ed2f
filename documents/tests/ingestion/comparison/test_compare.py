"""What changed between two texts: found, named, and never invented."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.ingestion.comparison import ChangeKind, ComparedSection, PieceKind, compare
from documents.ingestion.comparison.order import heaviest_rise
from documents.ingestion.comparison.words import shortest_edit, word_changes

SCOPE = "This policy applies to all staff and to all contractors of the company."
GIFTS = "Gifts over 50 EUR must be declared to the compliance office within five days."
RETENTION = "Personal data is kept for six years after the contract ends, and is then deleted."
AUDIT = "The audit committee reviews this policy once a year, in March at the latest."


def section(key: str, text: str, number: str = "", title: str = "", parent: str | None = None):
    heading = f"{number} {title}".strip()
    return ComparedSection(key, parent, number or None, title, (heading,), text)


def kinds(old, new) -> list[tuple[str, str, str]]:
    return [
        (c.kind.value, "+".join(s.key for s in c.old), "+".join(s.key for s in c.new))
        for c in compare(old, new).changes
    ]


OLD = [
    section("a", SCOPE, "4.1", "Scope"),
    section("b", GIFTS, "4.2", "Gifts"),
    section("c", RETENTION, "4.3", "Retention"),
    section("d", AUDIT, "4.4", "Audit"),
]


def test_the_same_text_has_not_changed():
    assert compare(OLD, OLD).is_empty
    assert compare([], []).is_empty


def test_a_removed_section_renumbers_those_behind_it_and_changes_none():
    new = [OLD[0], OLD[1], section("e", AUDIT, "4.3", "Audit")]

    assert kinds(OLD, new) == [
        ("unchanged", "a", "a"),
        ("unchanged", "b", "b"),
        ("removed", "c", ""),
        ("renumbered", "d", "e"),
    ]


def test_a_moved_section_is_found_by_its_words_and_its_neighbours_stay():
    new = [section("x", AUDIT, "4.1", "Audit"), *OLD[:3]]

    assert kinds(OLD, new) == [
        ("moved", "d", "x"),
        ("unchanged", "a", "a"),
        ("unchanged", "b", "b"),
        ("unchanged", "c", "c"),
    ]


def test_a_section_under_another_heading_has_moved():
    chapters = [section("1", "", "1", "Duties"), section("2", "", "2", "Records")]
    old = [chapters[0], section("a", GIFTS, "1.1", "Gifts", "1"),
           section("b", SCOPE, "1.2", "Scope", "1"),
           chapters[1], section("c", RETENTION, "2.1", "Retention", "2")]  # fmt: skip
    new = [chapters[0], section("b", SCOPE, "1.1", "Scope", "1"),
           chapters[1], section("c", RETENTION, "2.1", "Retention", "2"),
           section("a", GIFTS.replace("50", "80"), "2.2", "Gifts", "2")]  # fmt: skip

    assert ("moved_and_changed", "a", "a") in kinds(old, new)
    assert ("renumbered", "b", "b") in kinds(old, new)
    assert ("unchanged", "c", "c") in kinds(old, new)


def test_another_rule_under_the_number_of_a_removed_one_is_new():
    old = [section("a", RETENTION, "4.3")]
    new = [section("b", "Staff may work from home on two days a week if asked in time.", "4.3")]

    assert sorted(kinds(old, new)) == [("added", "", "b"), ("removed", "a", "")]


def test_a_rewritten_section_under_its_own_heading_is_changed():
    old = [section("a", RETENTION, "4.3", "Retention")]
    new = [section("b", "Nothing is stored any more.", "4.3", "Retention")]

    [change] = compare(old, new).changes

    assert change.kind is ChangeKind.CHANGED
    assert [piece.kind for piece in change.pieces] == [PieceKind.REMOVED, PieceKind.ADDED]


def test_a_section_split_in_two_and_two_merged_into_one():
    whole = [section("a", f"{GIFTS} {RETENTION}", "1", "Rules")]
    halves = [section("b", GIFTS, "1", "Rules"), section("c", RETENTION, "2", "Retention")]

    assert kinds(whole, halves) == [("split", "a", "b+c")]
    assert kinds(halves, whole) == [("merged", "b+c", "a")]


def test_a_line_broken_elsewhere_is_no_change():
    new = [section("a", SCOPE.replace(" and ", "\nand "), "4.1", "Scope"), *OLD[1:]]

    assert compare(OLD, new).is_empty


def test_chinese_is_marked_by_the_character():
    old = [section("a", "汽車駕駛人闖紅燈者，處新臺幣一千八百元以上罰鍰。", "第五十三條")]
    new = [section("b", "汽車駕駛人闖紅燈者，處新臺幣三千六百元以上罰鍰。", "第五十三條")]

    [change] = compare(old, new).changes

    marked = [(p.kind.value, p.text) for p in change.pieces if p.kind is not PieceKind.SAME]
    assert marked == [("removed", "一千八百"), ("added", "三千六百")]


def test_figures_and_amounts_are_marked_whole():
    pieces = word_changes("Pay NT$1,800 within 30 days.", "Pay NT$2,800 within 30 days.")

    assert [(p.kind.value, p.text) for p in pieces if p.kind is not PieceKind.SAME] == [
        ("removed", "1,800 "),
        ("added", "2,800 "),
    ]


words = st.lists(
    st.sampled_from(["a", "b", "c", "the", "款", "、", "1,800", "\n", " "]), max_size=60
)


@given(words, words)
@settings(max_examples=200, deadline=None)
def test_the_pieces_give_back_both_texts(old, new):
    was, now = " ".join(old), " ".join(new)

    pieces = word_changes(was, now)

    assert "".join(p.text for p in pieces if p.kind is not PieceKind.REMOVED) == now
    kept = "".join(p.text for p in pieces if p.kind is not PieceKind.ADDED)
    assert kept.split() == was.split() or "".join(kept.split()) == "".join(was.split())


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30))
@settings(max_examples=200, deadline=None)
def test_the_shortest_edit_turns_one_sequence_into_the_other(a, b):
    edits = shortest_edit(a, b, 60)
    assert edits is not None

    made, at = [], 0
    for i, j, k, m in edits:
        made += a[at:i] + b[k:m]
        at = j
    assert made + a[at:] == b


sections = st.lists(
    st.tuples(
        st.sampled_from(["", "1", "2", "3.1"]),
        st.sampled_from(["", "Scope", "Gifts"]),
        st.sampled_from([SCOPE, GIFTS, RETENTION, AUDIT, "", f"{GIFTS} {RETENTION}"]),
    ),
    max_size=8,
)


@given(sections, sections)
@settings(max_examples=150, deadline=None)
def test_every_section_is_in_exactly_one_change(old, new):
    olds = [section(f"o{i}", text, number, title) for i, (number, title, text) in enumerate(old)]
    news = [section(f"n{i}", text, number, title) for i, (number, title, text) in enumerate(new)]

    changes = compare(olds, news).changes

    assert sorted(s.key for c in changes for s in c.old) == sorted(s.key for s in olds)
    assert sorted(s.key for c in changes for s in c.new) == sorted(s.key for s in news)
    assert changes == compare(olds, news).changes


@given(st.permutations(range(7)), st.lists(st.integers(1, 5), min_size=7, max_size=7))
def test_the_heaviest_rise_rises_and_none_is_heavier(values, weights):
    import itertools

    found = heaviest_rise(values, weights)

    assert [values[i] for i in found] == sorted(values[i] for i in found)
    rising = (
        sum(weights[i] for i in some)
        for n in range(8)
        for some in itertools.combinations(range(7), n)
        if all(values[i] < values[j] for i, j in itertools.pairwise(some))
    )
    assert sum(weights[i] for i in found) == max(rising)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(["the same words in every one of them"] * 500,
                     ["the same words in every one of them"] * 490, id="all alike"),
        pytest.param([f"rule {i} says this and that" for i in range(500)],
                     [f"rule {i} says this and that" for i in reversed(range(500))], id="reversed"),
        pytest.param(["the " * 5000], ["the a " * 4000], id="one word"),
    ],
)  # fmt: skip
def test_texts_made_to_be_slow_come_to_an_end(old, new):
    # A quadratic way takes minutes here, and the test's time limit ends it.
    olds = [section(f"o{i}", text) for i, text in enumerate(old)]
    news = [section(f"n{i}", text) for i, text in enumerate(new)]

    assert compare(olds, news).changes
