"""Before an answer: is this a question, and is it likely that the passages answer it?

The gate is a logistic regression over features that do not depend on how large the corpus
is. A raw BM25 score does: one threshold let 10 % of off-topic questions pass at 25 chunks
and 85 % at 8,754. It only removes what is clearly unrelated, without a model call; whether a
close passage really holds the answer is decided by the answerer and by verification.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.question_words import synonyms
from qa.answering.questions import Keyword, read_question
from qa.errors import InvalidQuestionError
from qa.records import GateDecision, Passage, SearchResult

MAX_QUESTION_LENGTH: Final = 1000
_MAX_LOOKED_AT: Final = 100_000  # characters that are cleaned one by one; nobody types more
_BEST: Final = 3
_NEAR: Final = 8  # words within which two words of the question count as near each other


@dataclass(frozen=True, slots=True)
class Coefficients:
    """A fitted gate: log-odds = intercept + the sum of weight times feature."""

    intercept: float
    weights: Mapping[str, float]
    fitted_on: str

    def probability(self, features: Mapping[str, float]) -> float:
        """The calibrated probability, 0 to 1."""
        odds = self.intercept + sum(
            weight * features.get(name, 0.0) for name, weight in self.weights.items()
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


LEXICAL: Final = "lexical"
DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"
ANY_LANGUAGE: Final = "*"
_FITTED_EN: Final = "75 calibration and 60 handbook questions in English, 2026-11-30"
# (model, language) -> coefficients, fitted by benchmarks/fit_gate.py as verification.md says.
COEFFICIENTS: Final[Mapping[tuple[str, str], Coefficients]] = {
    (DEFAULT_MODEL, ANY_LANGUAGE): Coefficients(
        -6.50,
        {
            "cosine": 4.30,
            "cover_best": 2.62,
            "cover_three": 2.26,
            "proximity": 1.71,
            "unseen": -1.23,
        },
        _FITTED_EN,
    ),
    (LEXICAL, "zh"): Coefficients(
        -1.78,
        {"cover_best": 2.28, "cover_three": 1.23, "proximity": 1.99, "unseen": -1.79},
        "14 calibration questions in Chinese, 2026-11-30",
    ),
    (LEXICAL, ANY_LANGUAGE): Coefficients(
        -4.55,
        {"cover_best": 2.94, "cover_three": 2.39, "proximity": 2.21, "unseen": -1.76},
        _FITTED_EN,
    ),
}


def clean_question(text: str, *, max_length: int = MAX_QUESTION_LENGTH) -> str:
    """The question without control characters.

    Args:
        text: as it came in.
        max_length: the most characters it may have afterwards.

    Raises:
        InvalidQuestionError: nothing is left, or too much; the message says what to do.
    """
    if len(text) > _MAX_LOOKED_AT:
        raise InvalidQuestionError(_too_long(len(text), max_length))
    text = "".join(" " if c in "\t\r\n\x0b\x0c" else c for c in text)
    kept = "".join(c for c in text if unicodedata.category(c) not in {"Cc", "Cs", "Co", "Cn"})
    question = " ".join(kept.split())
    if not any(character.isalnum() for character in question):
        raise InvalidQuestionError("The question is empty. Type a question in words.")
    if len(question) > max_length:
        raise InvalidQuestionError(_too_long(len(question), max_length))
    return question


def _too_long(length: int, max_length: int) -> str:
    return f"The question has {length} characters; at most {max_length} are allowed. Shorten it."


def before_answer(
    result: SearchResult, question: str, *, threshold: float, model: str = DEFAULT_MODEL
) -> GateDecision:
    """Decide whether to answer at all.

    Args:
        result: what the search found for this reader.
        question: the cleaned question.
        threshold: the least probability to go on, from calibration.
        model: the dense model that gave `Passage.cosine`; without any cosine the lexical
            coefficients are used.

    Returns:
        The decision with the probability and the features it was made of.
    """
    if not result.passages:
        return GateDecision(is_open=False, score=0.0, threshold=threshold)
    features = gate_features(result, question)
    score = coefficients_for(model, result.language, features).probability(features)
    return GateDecision(score >= threshold, score, threshold, features)


def coefficients_for(model: str, language: str, features: Mapping[str, float]) -> Coefficients:
    """The coefficients fitted for this model and language, else the nearest there are."""
    name = model if "cosine" in features else LEXICAL
    for key in ((name, language), (name, language[:2]), (name, ANY_LANGUAGE)):
        if key in COEFFICIENTS:
            return COEFFICIENTS[key]
    return COEFFICIENTS[(DEFAULT_MODEL if "cosine" in features else LEXICAL, ANY_LANGUAGE)]


def gate_features(result: SearchResult, question: str) -> dict[str, float]:
    """The features of a search result, each 0 to 1 (cosine -1 to 1; left out without one)."""
    keywords = read_question(question, result.language).keywords
    passages = result.passages
    held = [_held(keywords, passage) for passage in passages]
    order = sorted(range(len(held)), key=lambda i: -_share(keywords, held[i]))
    best_three = frozenset().union(*(held[i] for i in order[:_BEST]))
    features = {
        "cover_best": _share(keywords, held[order[0]]),
        "cover_three": _share(keywords, best_three),
        "unseen": _unseen_share(result, keywords),
        "proximity": _proximity(keywords, passages[order[0]]),
    }
    cosines = [passage.cosine for passage in passages if passage.cosine is not None]
    if cosines:
        features["cosine"] = max(cosines)
    return features


def _held(keywords: Sequence[Keyword], passage: Passage) -> frozenset[int]:
    """Which keywords (by position) the passage holds, with its title and section path."""
    words = set(content_words(_full_text(passage), passage.language))
    table = synonyms()
    return frozenset(
        index
        for index, keyword in enumerate(keywords)
        if any(stem in words or table.get(stem, frozenset()) & words for stem in keyword.stems)
    )


def _full_text(passage: Passage) -> str:
    return "\n".join([passage.document, *passage.section_path, passage.section_title, passage.text])


def _share(keywords: Sequence[Keyword], held: frozenset[int]) -> float:
    total = sum(keyword.weight for keyword in keywords)
    return sum(keywords[index].weight for index in held) / total if total else 0.0


def _unseen_share(result: SearchResult, keywords: Sequence[Keyword]) -> float:
    if not result.question_terms:
        return 0.0
    return min(1.0, len(result.unseen_terms) / max(len(result.question_terms), 1))


def _proximity(keywords: Sequence[Keyword], passage: Passage) -> float:
    """Share of neighbouring keyword pairs that stand near each other in the passage."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(content_words(passage.text, passage.language)):
        places.setdefault(word, []).append(place)
    pairs = list(pairwise(keywords))
    if not pairs:
        return 1.0 if any(stem in places for k in keywords for stem in k.stems) else 0.0
    return sum(_is_near(a, b, places) for a, b in pairs) / len(pairs)


def _is_near(first: Keyword, second: Keyword, places: Mapping[str, list[int]]) -> bool:
    here = [place for stem in first.stems for place in places.get(stem, [])]
    there = [place for stem in second.stems for place in places.get(stem, [])]
    return any(abs(a - b) <= _NEAR for a in here for b in there)
