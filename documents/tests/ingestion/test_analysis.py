from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.analysis import (
    bigrams,
    content_words,
    detect_language,
    index_weights,
    query_terms,
    unigrams,
)
from documents.ingestion.analysis.english import stem
from documents.ingestion.analysis.terms import HASH_RANGE, MAX_QUERY_TERMS, term_of

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("LEGALQA_SHARED_DATA", ROOT.parent / "shared" / "data"))


class Index:
    """BM25 over a few texts, as the database computes it from stored weights."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.weights = {
            name: index_weights(text, detect_language(text)) for name, text in texts.items()
        }

    def scores(self, question: str) -> dict[str, float]:
        terms = query_terms(question, detect_language(question))
        return {
            name: sum(weights.get(term, 0.0) * self._idf(term) for term in terms)
            for name, weights in self.weights.items()
        }

    def ranking(self, question: str) -> list[str]:
        scores = self.scores(question)
        found = [name for name, score in scores.items() if score > 0]
        return sorted(found, key=lambda name: (-scores[name], name))

    def _idf(self, term: int) -> float:
        count = len(self.weights)
        frequency = sum(term in weights for weights in self.weights.values())
        return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))


def _cases() -> list[dict[str, Any]]:
    path = SHARED / "cases" / "cases.jsonl"
    if not path.exists():
        return []
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = ("tokenise", "retrieve", "rank")
    return [
        case
        for case in cases
        if case["kind"] in ("tokenisation", "bm25", "unicode")
        and case["layer"] in wanted
        and case["needs"] == "none"
    ]


CASES = _cases()


@pytest.mark.skipif(not CASES, reason=f"no shared cases at {SHARED}; set LEGALQA_SHARED_DATA")
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case: dict[str, Any]) -> None:
    given_input, expect = case["input"], case["expect"]
    questions = [*expect.get("queries", [])]
    for entry in given_input.get("queries", []):
        if isinstance(entry, str):
            questions.append({"q": entry, "first": expect.get("first")})
        else:
            questions.append({"q": entry[0], "first": entry[1]})
    if "q" in given_input and "first" in expect:
        questions.append({"q": given_input["q"], "first": expect["first"]})

    if "docs" in given_input:
        index = Index(given_input["docs"])
        for question in questions:
            _check_question(index, question)
    for corpus in [*given_input.get("corpora", []), *expect.get("corpora", [])]:
        _check_corpus(corpus, given_input.get("q", ""))
    for name in given_input.get("files", []):
        text = (SHARED / "cases" / name).read_text(encoding="utf-8")
        for question, is_found in expect["match"]:
            assert (Index({"file": text}).scores(question)["file"] > 0) is is_found, question

    assert "docs" in given_input or "files" in given_input or "corpora" in given_input


def _check_question(index: Index, question: dict[str, Any]) -> None:
    ranking, scores = index.ranking(question["q"]), index.scores(question["q"])
    context = (question["q"], scores)
    assert all(math.isfinite(score) and score >= 0 for score in scores.values()), context
    if question.get("first"):
        assert ranking[:1] == [question["first"]], context
    if "first_in" in question:
        assert ranking[0] in question["first_in"], context
    if "not_first" in question:
        assert ranking[:1] != [question["not_first"]], context
    assert not set(question.get("not_found", [])) & set(ranking), context
    assert all(scores[name] > 0 for name in question.get("positive", [])), context
    assert all(scores[name] == 0 for name in question.get("zero", [])), context


def _check_corpus(corpus: Any, question: str) -> None:
    if isinstance(corpus, list):
        assert Index({str(i): text for i, text in enumerate(corpus)}).ranking(question) == []
        return
    scores = Index({str(i): text for i, text in enumerate(corpus["docs"])}).scores(corpus["q"])
    assert all(scores[str(i)] > 0 for i in corpus["positive_index"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AES-256", "aes 256"),
        ("AES-256", "AES256"),
        ("SOC-2", "SOC2"),
        ("ISO 27001", "ISO27001"),
        ("e-mail", "email"),
        ("O’Hara", "ohara"),
        ("employee’s", "employees"),
        ("1,800", "1800"),
        ("U.S.A.", "USA"),
        ("R&D", "RD"),
        ("§ 53", "§53"),
        ("TLS1.3", "tls 1.3"),
    ],
)
def test_ways_of_typing_meet(one: str, other: str) -> None:
    assert Index({"a": f"Rule on {one} here."}).scores(other)["a"] > 0


@pytest.mark.parametrize(
    ("text", "question"),
    [("clause 14.3", "4.3"), ("clause 4.30", "4.3"), ("form W-4", "W-2"), ("Plan A", "plan B")],
)
def test_different_names_do_not_meet(text: str, question: str) -> None:
    words = {term_of(word).hash for word in unigrams(question, "en") if word != "plan"}

    assert words
    assert not words & index_weights(text, "en").keys()


def test_identifiers_are_kept_whole_and_in_parts() -> None:
    assert set(unigrams("AES-256", "en")) == {"aes-256", "aes256", "aes", "256"}
    assert unigrams("W-2", "en") == ["w2", "w-2"]


@pytest.mark.parametrize(
    "words",
    [
        ("organic", "organisers", "organ"),
        ("universe", "universal", "university"),
        ("police", "policies"),
        ("public", "publicity"),
        ("intern", "internal", "international"),
        ("general", "generate", "generous"),
        ("design", "designate"),
        ("department", "departure"),
        ("position", "positive"),
        ("experience", "experiment"),
        ("plan", "plane"),
        ("business", "busy"),
        ("import", "important"),
    ],
)
def test_stemming_keeps_different_words_apart(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == len(words)


@pytest.mark.parametrize(
    "words",
    [
        ("policy", "policies"),
        ("approve", "approves", "approved", "approving", "approval"),
        ("notify", "notified", "notification", "notifications"),
        ("organise", "organize", "organised", "organizing"),
        ("colour", "colors"),
        ("use", "used", "using", "uses"),
        ("stop", "stopped", "stopping"),
        ("control", "controls", "controlled"),
        ("process", "processes", "processed"),
        ("expense", "expenses"),
        ("copy", "copies", "copied"),
        ("agree", "agreed", "agreement"),
        ("pay", "paid", "payment"),
        ("box", "boxes"),
        ("leave", "leaves"),
        ("breach", "breaches", "breached"),
    ],
)
def test_stemming_joins_forms_of_a_word(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@given(st.text(alphabet=st.characters(min_codepoint=97, max_codepoint=122), max_size=24))
def test_a_stem_is_never_empty_or_longer(word: str) -> None:
    assert len(stem(word)) <= len(word) + 1
    assert bool(stem(word)) is bool(word)


@given(st.text())
def test_any_text_can_be_analysed(text: str) -> None:
    language = detect_language(text)

    assert all(unigrams(text, language))
    assert all(" " in pair for pair in bigrams(text, language))
    assert all(content_words(text, language))
    assert len(query_terms(text, language)) <= 2 * MAX_QUERY_TERMS
    for term, weight in index_weights(text, language).items():
        assert 1 <= term <= HASH_RANGE
        assert 0 < weight < 4


@given(st.text(alphabet="abcde 年假天.-4", max_size=60))
def test_what_a_text_asks_for_it_finds_in_itself(text: str) -> None:
    words = {term_of(word).hash for word in unigrams(text, "en")}

    assert words <= index_weights(text, "en").keys()


def test_weights_follow_the_formula() -> None:
    text = "fee fee notice"
    weights = index_weights(text, "en", k1=1.2, b=0.5, average_length=6, bigram_weight=0.5)
    norm = 1.2 * (0.5 + 0.5 * 3 / 6)

    assert weights[term_of("fee").hash] == pytest.approx(2.2 * 2 / (2 + norm))
    assert weights[term_of("notic").hash] == pytest.approx(2.2 / (1 + norm))
    assert sorted(weights.values())[0] == pytest.approx(0.5 * 2.2 / (1 + norm))
    assert len(weights) == 4


def test_bigrams_do_not_collide_with_words() -> None:
    pair = index_weights("fee notice", "en").keys() - {term_of(w).hash for w in ("fee", "notic")}

    assert len(pair) == 1
    assert pair != {term_of("fee notic").hash}


def test_hashes_are_the_same_in_every_process() -> None:
    code = (
        "from documents.ingestion.analysis import query_terms;"
        "print(query_terms('annual leave', 'en'))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert other.stdout.strip() == str(query_terms("annual leave", "en"))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the notice period?", {"notice", "period"}),
        ("How many days of annual leave do I get?", {"days", "annual", "leave", "get"}),
        ("How long is long service leave?", {"long", "service", "leave"}),
        ("Who approves overtime?", {"approves", "overtime"}),
        ("Please tell me about parking", {"parking"}),
    ],
)
def test_question_words_ask_for_nothing(question: str, words: set[str]) -> None:
    asked = {word for word in query_terms(question, "en").values() if " " not in word}

    assert asked == words


def test_chinese_question_phrases_ask_for_nothing() -> None:
    asked = set(query_terms("請問年假有多少天？", "zh-Hant").values())

    assert "年假" in asked
    assert not asked & {"請", "問", "請問", "多", "多少", "少"}


def test_linking_words_hold_phrases_together() -> None:
    asked = query_terms("right to erasure", "en").values()

    assert {"right to", "to erasure"} <= set(asked)


def test_negation_is_indexed() -> None:
    assert "not" in unigrams("Visitors may not film", "en")
    assert "not" in unigrams("Visitors can't film", "en")
    assert {"without", "never", "no", "all"} <= {*unigrams("without never no all", "en")}


def test_acronyms_that_look_like_stop_words_are_names() -> None:
    assert "IT" in unigrams("IT orders its own hardware.", "en")
    assert "IT" not in unigrams("VISITORS MAY NOT FILM IT HERE.", "en")
    assert unigrams("it is so", "en") == []


def test_content_words_of_chinese_are_pairs() -> None:
    assert content_words("年假共十天", "zh-Hant") == ["年假", "假共", "共十", "十天"]
    assert content_words("假", "zh-Hant") == ["假"]


def test_bigrams_stay_within_a_phrase() -> None:
    assert bigrams("Pay fees. Send forms", "en") == ["pay fee", "send form"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("4.3", "en"),
        ("Annual leave is 25 days.", "en"),
        ("Combien de jours de congés payés ai-je dans la première année ?", "fr"),
        ("Wie viele Tage Urlaub habe ich im ersten Jahr?", "de"),
        ("¿Cuántos días de vacaciones tengo en el primer año?", "es"),
        ("員工請假應事先申請。", "zh-Hant"),
        ("员工请假应事先申请。", "zh-Hans"),
        ("VPN账号90天更换密码。", "zh-Hans"),
        ("年次有給休暇は十日とする。", "ja"),
        ("연차 휴가는 십오 일이다.", "ko"),
        ("Отпуск составляет двадцать дней.", "ru"),
        ("Company policy (公司) applies to everyone here.", "en"),
    ],
)
def test_language_is_told_by_script_and_words(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_unaccented_questions_find_french_text() -> None:
    text = "Les congés payés sont de 25 jours ouvrés dans la première année."

    assert Index({"a": text}).scores("conges payes")["a"] > 0


@pytest.mark.timeout(120)  # less than a second; a quadratic step takes minutes
@pytest.mark.parametrize("unit", ["word ", "a", "年", "a-", "1,", "'s ", "§ 1 ", "x.y."])
def test_analysis_takes_linear_time(unit: str) -> None:
    index_weights(unit * (150_000 // len(unit)), "en")
