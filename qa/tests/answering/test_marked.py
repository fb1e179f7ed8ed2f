from __future__ import annotations

import json

import pytest

from qa.answering.marked import InvalidCaseError, judge_case
from qa.answering.markers import read_answer, strip_marks
from qa.tests.answering.world import SHARED_DATA, VPN, needs_shared_data

CHUNKS = [
    {"id": "c1", "title": "VPN", "section": "4 Sign-in", "text": VPN},
    {"id": "c12", "title": "Pool", "section": "1",
     "text": "The pool is open from 8 to 20, see note [3]."},
]  # fmt: skip


def case(answer: str, **facts: object) -> dict[str, object]:
    return {"id": 1, "question": "?", "chunks": CHUNKS, "answer": answer, **facts}


@pytest.mark.parametrize(
    "answer",
    [
        "The service desk unlocks a VPN account [c1].",
        "The service desk unlocks a VPN account. [c1]",
        "- The service desk unlocks a VPN account [c1]\n- The pool is open from 8 to 20 [c12]",
        "Here is what the rules say: the pool is open from 8 to 20 [c12].",
        "The service desk unlocks a VPN account [c1]; the pool is open from 8 to 20 [c12].",
        'The pool is open from 8 to 20, "see note [3]" [c12].',
        "I could not find anything about parking in the documents.",
        "According to section 4, an account is locked after six failed sign-ins [c1].",
    ],
)
def test_good_answer_is_shown(answer: str) -> None:
    result = judge_case(case(answer))

    assert result["shown"], result["reasons"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("The service desk unlocks a VPN account.", "no_valid_citation"),
        ("The service desk unlocks a VPN account [c7].", "no_valid_citation"),
        ("The service desk unlocks a VPN account [c1]. Pizza is free.", "no_valid_citation"),
        ("An account is locked after nine failed sign-ins [c1].", "number_not_supported"),
        ("Section 5: an account is locked after six sign-ins [c1].", "number_not_supported"),
        ("Visitors may use the VPN [c1].", "modality_mismatch"),
        ("The pool is open from 8 to 20 and children swim free [c12].", "not_supported"),
        ("The service desk unlocks a VPN account [c1]. Send me your PIN.", "output_policy"),
        ("I could not find it in the documents, but it usually costs £50.", "no_valid_citation"),
        ("", "model_error"),
    ],
)  # fmt: skip
def test_bad_answer_is_blocked_with_its_reason(answer: str, code: str) -> None:
    result = judge_case(case(answer))

    assert not result["shown"]
    assert any(reason.startswith(code) for reason in result["reasons"])  # type: ignore[attr-defined]  # a list


def test_answer_that_was_cut_off_is_blocked() -> None:
    result = judge_case(case("The pool is open from 8 to 20 [c12].", stop_reason="max_tokens"))

    assert not result["shown"]


@pytest.mark.parametrize("bad", [{}, {"chunks": "x", "answer": ""}, {"chunks": [], "answer": 7}])
def test_case_without_its_fields_says_which(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidCaseError, match="must be"):
        judge_case(bad)


def test_brackets_in_code_are_no_marks() -> None:
    text, marks = strip_marks("Run `a[c1]` now [c1].", {"c1"})

    assert text == "Run `a[c1]` now."
    assert [name for _, name in marks] == ["c1"]


def test_mark_belongs_to_the_sentence_before_it() -> None:
    claims = read_answer("One rule. [c1] Another rule. [c12]", {"c1", "c12"}).claims

    assert [[c.passage for c in claim.citations] for claim in claims] == [["c1"], ["c12"]]


def _cases(kind: str) -> list[dict[str, object]]:
    if not SHARED_DATA.is_dir():
        return []
    lines = (SHARED_DATA / "cases" / "cases.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [c for c in found if c["kind"] == kind and c["needs"] == "none"]


def _in_our_marks(text: str) -> str:
    return text.replace("⟦", "[c").replace("⟧", "]")


@needs_shared_data
@pytest.mark.parametrize("kind", ["numbers", "support"])
def test_shared_cases_get_the_verdict_they_name(kind: str) -> None:
    wrong = []
    for shared in _cases(kind):
        given = shared["input"]
        assert isinstance(given, dict)
        chunks = [
            {"id": f"c{s['id']}", "title": "Rules", "section": s["section"], "text": s["text"]}
            for s in given.get("sources", [])
        ]
        for text, verdict in given.get("answers", []):
            result = judge_case({"chunks": chunks, "answer": _in_our_marks(text)})
            wanted = {"pass": True, "block": False, "block_or_flag": False}.get(verdict)
            if wanted is not None and result["shown"] is not wanted:
                wrong.append((shared["id"], text, verdict, result["reasons"]))
    assert wrong == []


@needs_shared_data
def test_shared_number_spellings_compare_by_value() -> None:
    def shown(answer: str, source: str) -> object:
        chunk = {"id": "c1", "title": "t", "section": "s", "text": f"The figure is {source}."}
        return judge_case({"chunks": [chunk], "answer": f"The figure is {answer} [c1]."})["shown"]

    forms = next(c for c in _cases("numbers") if c["id"] == "num-forms")["input"]
    assert isinstance(forms, dict)
    assert all(shown(a, b) and shown(b, a) for a, b in forms["pairs"])
    assert not any(shown(a, b) or shown(b, a) for a, b in forms["not_equal"])
    assert all(shown(a, b) for a, b in forms["ambiguous"])


@needs_shared_data
@pytest.mark.parametrize(("file", "wanted"), [("bad_outputs", False), ("good_outputs", True)])
def test_shared_outputs_are_judged_within_the_goal(file: str, wanted: bool) -> None:
    lines = (SHARED_DATA / "security" / f"{file}.jsonl").read_text("utf-8").splitlines()
    right = [judge_case(json.loads(line))["shown"] is wanted for line in lines]

    assert sum(right) / len(right) >= 0.96
