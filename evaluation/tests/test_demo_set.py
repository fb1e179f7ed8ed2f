"""The demonstration set keeps its promises: counts, verbatim quotes, labels, dates.

`demo/questions.jsonl` is the set `demo`, which is measured; `demo/calibration.jsonl` is what
thresholds are fitted on. Both ask about `demo/policies`, described by `demo/manifest.yaml`.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from documents.ingestion.parsers import parse
from documents.ingestion.structure import build_sections

DEMO = Path(__file__).resolve().parents[2] / "demo"
SETS = ("questions.jsonl", "calibration.jsonl")
FIELDS = ("id", "question", "answerable", "expected", "terms", "labels", "as_of", "note")
CJK = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class VersionFile:
    """One version of a demonstration policy: its file and its first day in force."""

    path: Path
    effective_from: dt.date


@cache
def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEMO / "manifest.yaml").read_text("utf-8"))
    return loaded


@cache
def questions(name: str) -> tuple[dict[str, Any], ...]:
    lines = (DEMO / name).read_text("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


def policies() -> dict[str, dict[str, Any]]:
    return {policy["slug"]: policy for policy in manifest()["policies"]}


def versions(slug: str) -> list[VersionFile]:
    policy = policies()[slug]
    entries = policy.get("versions", [policy])
    return sorted(
        (VersionFile(DEMO / entry["file"], entry["effective_from"]) for entry in entries),
        key=lambda version: version.effective_from,
    )


def version_in_force(slug: str, as_of: str | None) -> VersionFile:
    day = dt.date.max if as_of is None else dt.date.fromisoformat(as_of)
    return [version for version in versions(slug) if version.effective_from <= day][-1]


@cache
def section_bodies(path: Path) -> list[tuple[str, str]]:
    """The sections of a file as the product reads it: number or else title, and body."""
    parsed = parse(path.read_bytes(), file_name=path.name)
    return [
        (
            section.number or section.display_title,
            folded(parsed.text[section.body_start : section.end]),
        )
        for section in build_sections(parsed, fallback_title=path.stem)
    ]


def folded(text: str) -> str:
    return " ".join(text.split())


def labels_of(role: str) -> set[str]:
    return {label["slug"] for label in manifest()["labels"] if label["role"] == role}


def may_read(asker: set[str], policy: dict[str, Any]) -> bool:
    """Say whether these labels admit the asker: one audience, and every restriction."""
    labels = set(policy["labels"])
    audience, restrictions = labels & labels_of("audience"), labels & labels_of("restriction")
    return bool(audience & asker) and restrictions <= asker


def count(name: str, *, answerable: bool, note: str = "") -> int:
    return sum(
        question["answerable"] is answerable and question["note"].startswith(note)
        for question in questions(name)
    )


def chinese(name: str, *, answerable: bool) -> int:
    return sum(
        question["answerable"] is answerable and bool(CJK.search(question["question"]))
        for question in questions(name)
    )


def test_demo_set_has_28_answerable_and_12_unanswerable_questions() -> None:
    assert count("questions.jsonl", answerable=True) == 28
    assert count("questions.jsonl", answerable=False) == 12
    assert count("questions.jsonl", answerable=False, note="near") == 8
    assert count("questions.jsonl", answerable=False, note="off-topic") == 4


def test_calibration_set_has_55_answerable_and_35_unanswerable_questions() -> None:
    assert count("calibration.jsonl", answerable=True) == 55
    assert count("calibration.jsonl", answerable=False, note="near") == 20
    assert count("calibration.jsonl", answerable=False, note="off-topic") == 15


def test_both_sets_ask_in_chinese_too() -> None:
    assert chinese("questions.jsonl", answerable=True) >= 2
    assert chinese("questions.jsonl", answerable=False) >= 1
    calibration = [chinese("calibration.jsonl", answerable=value) for value in (True, False)]
    assert sum(calibration) == 15
    assert min(calibration) >= 5


@pytest.mark.parametrize("name", SETS)
def test_every_question_has_all_fields_and_an_id_of_its_own(name: str) -> None:
    for question in questions(name):
        assert tuple(question) == FIELDS
        assert 1 <= len(question["question"]) <= 1000
        assert question["note"]
    ids = [question["id"] for set_name in SETS for question in questions(set_name)]
    assert len(ids) == len(set(ids))


def test_no_calibration_question_is_in_the_measured_set() -> None:
    measured, fitted = ({q["question"].casefold() for q in questions(name)} for name in SETS)

    assert not measured & fitted


@pytest.mark.parametrize("name", SETS)
def test_a_question_is_repeated_only_for_another_date_or_other_labels(name: str) -> None:
    asked = [(q["question"], q["as_of"], tuple(q["labels"])) for q in questions(name)]

    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", SETS)
def test_only_answerable_questions_expect_something(name: str) -> None:
    for question in questions(name):
        assert bool(question["expected"]) is question["answerable"], question["id"]
        assert bool(question["terms"]) is question["answerable"], question["id"]


@pytest.mark.parametrize("name", SETS)
def test_every_quote_is_verbatim_in_the_version_in_force(name: str) -> None:
    for question in questions(name):
        for expected in question["expected"]:
            version = version_in_force(expected["document"], question["as_of"])
            text = folded(version.path.read_text("utf-8"))
            assert folded(expected["quote"]) in text, question["id"]


@pytest.mark.parametrize("name", ["questions.jsonl", "calibration.jsonl"])
def test_every_quote_lies_in_the_section_that_it_names(name: str) -> None:
    for question in questions(name):
        for expected in question["expected"]:
            path = version_in_force(expected["document"], question["as_of"]).path
            homes = {
                section
                for section, body in section_bodies(path)
                if folded(expected["quote"]) in body
            }
            assert homes == {expected["section"]}, question["id"]


@pytest.mark.parametrize("name", SETS)
def test_every_term_stands_in_an_expected_document(name: str) -> None:
    for question in questions(name):
        texts = [
            folded(version_in_force(item["document"], question["as_of"]).path.read_text("utf-8"))
            for item in question["expected"]
        ]
        for term in question["terms"]:
            assert any(term in text for text in texts), (question["id"], term)


@pytest.mark.parametrize("name", SETS)
def test_the_asker_of_an_answerable_question_may_read_its_document(name: str) -> None:
    for question in questions(name):
        for expected in question["expected"]:
            policy = policies()[expected["document"]]
            assert may_read(set(question["labels"]), policy), question["id"]


def test_restricted_questions_are_asked_with_and_without_the_label() -> None:
    restricted = [
        question
        for question in questions("questions.jsonl")
        if question["answerable"] and set(question["labels"]) != {"all-staff"}
    ]
    refused = {q["question"] for q in questions("questions.jsonl") if not q["answerable"]}

    assert len(restricted) == 2
    assert {question["question"] for question in restricted} <= refused
    for question in restricted:
        policy = policies()[question["expected"][0]["document"]]
        assert not may_read({"all-staff"}, policy)


def test_the_amount_of_a_past_date_differs_from_the_one_in_force() -> None:
    pair = [q for q in questions("questions.jsonl") if q["note"].startswith("as-of pair")]

    assert len(pair) == 2
    assert pair[0]["question"] == pair[1]["question"]
    assert pair[0]["terms"] != pair[1]["terms"]
    for question in pair:
        in_force = version_in_force("travel", question["as_of"])
        others = [version for version in versions("travel") if version != in_force]
        assert all(question["terms"][0] not in v.path.read_text("utf-8") for v in others)


def test_labels_are_known_and_cover_both_roles() -> None:
    known = {label["slug"] for label in manifest()["labels"]}
    used = [labels for policy in policies().values() for labels in policy["labels"]]
    used += [label for user in manifest()["users"] for label in user["labels"]]
    used += [label for name in SETS for question in questions(name) for label in question["labels"]]

    assert set(used) <= known
    assert labels_of("audience") | labels_of("restriction") == known
    assert labels_of("restriction")


def test_every_policy_file_is_listed_once() -> None:
    listed = [version.path for slug in policies() for version in versions(slug)]

    assert len(listed) == len(set(listed))
    assert set(listed) == set((DEMO / "policies").iterdir())


def test_front_matter_agrees_with_the_manifest() -> None:
    checked = 0
    for slug, policy in policies().items():
        for version in versions(slug):
            text = version.path.read_text("utf-8")
            if text.startswith("---\n"):
                front = yaml.safe_load(text.split("---\n")[1])
                assert front["title"] == policy["title"]
                assert front["effective"] == version.effective_from
                assert front.get("owner", policy["owner"]) == policy["owner"]
                checked += 1

    assert checked >= 5


def test_users_hold_different_labels_and_the_showcase_names_them() -> None:
    users = {user["username"]: frozenset(user["labels"]) for user in manifest()["users"]}
    showcase = yaml.safe_load((DEMO / "showcase.yaml").read_text("utf-8"))["questions"]

    assert len(users) == 4
    assert len(set(users.values())) == 3  # the administrator reads as all staff do
    assert {entry["user"] for entry in showcase} <= set(users)
    assert sorted(entry["expect"] for entry in showcase) == ["answered"] * 2 + ["refused"] * 2


def test_an_expected_outcome_of_the_showcase_is_labelled_alike_in_the_set() -> None:
    users = {user["username"]: user["labels"] for user in manifest()["users"]}
    labelled = {
        (question["question"], tuple(question["labels"])): question["answerable"]
        for question in questions("questions.jsonl")
    }
    showcase = yaml.safe_load((DEMO / "showcase.yaml").read_text("utf-8"))["questions"]

    for entry in showcase:
        key = (entry["question"], tuple(users[entry["user"]]))
        assert labelled[key] is (entry["expect"] == "answered")
