"""From tokens to index terms and weights, for chunks and questions.

Terms are hashed into 1 … 999,999,999, the range of the stored sparse vectors. Unigrams and
bigrams are told apart before hashing. Weights are BM25's saturated term weights with a
constant average length: a corpus statistic baked into a stored weight would let hidden
documents move a reader's scores (RETRIEVAL-SQL).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, pairwise

from documents.ingestion.analysis.stop_words import (
    CHINESE_QUESTION_PHRASES,
    HOW_WORDS,
    LINKING_WORDS,
    QUESTION_WORDS,
)
from documents.ingestion.analysis.tokens import Token, tokens

HASH_RANGE = 999_999_999
MAX_QUERY_TERMS = 64  # a question pasted with a page of text asks for its first words
_UNIGRAM, _BIGRAM = "u", "b"


@dataclass(frozen=True, slots=True)
class Term:
    """A term as indexed: readable text and its hash, 1 to 999,999,999, the same for ever."""

    text: str
    hash: int


def unigrams(text: str, language: str | None) -> list[str]:
    """All index terms of a text in order, with repetition; stop words give none."""
    return [term for token in tokens(text, language) if not token.is_stop for term in token.terms]


def bigrams(text: str, language: str | None) -> list[str]:
    """Pairs of neighbouring words, stemmed, as `first second`.

    Stop words count as words here, so that `may not`, `to be` and `right to erasure` keep
    their order; a pair never crosses the end of a phrase. Scripts without blanks give none:
    their unigrams hold 2-grams already.
    """
    return [pair for pair, _ in _pairs(tokens(text, language))]


def index_weights(
    text: str,
    language: str | None,
    *,
    k1: float = 0.9,
    b: float = 0.4,
    average_length: float = 120.0,
    bigram_weight: float = 0.3,
) -> dict[int, float]:
    """The sparse vector of a text: term hash to saturated BM25 weight.

    Args:
        text: the chunk, with whatever else is to be searched in front of it.
        language: of the text; None counts as English.
        k1: saturation of repeated terms, > 0; 0.9 measured best on regulations.
        b: strength of the length norm, 0 to 1; 0.4 measured best.
        average_length: in words; a constant of the index, never computed from the corpus.
        bigram_weight: what a bigram counts against a word.

    Returns:
        (k1 + 1)·tf / (tf + k1·(1 - b + b·length/average_length)) for each unigram, the same
        times `bigram_weight` for each bigram. A text in another Latin language is indexed
        under its English stems too, since a short question rarely shows its language.
    """
    found = list(tokens(text, language))
    words = Counter(term for token in found if not token.is_stop for term in token.terms)
    if language and language not in ("en", "ja", "ko") and not language.startswith("zh"):
        words |= Counter(unigrams(text, "en"))
    pairs = Counter(pair for pair, _ in _pairs(found))
    length = sum(not token.is_stop and len(token.surface) > token.is_run for token in found)
    norm = k1 * (1 - b + b * length / average_length)
    weights: dict[int, float] = {}
    for namespace, counts, scale in ((_UNIGRAM, words, 1.0), (_BIGRAM, pairs, bigram_weight)):
        for term, count in counts.items():
            weight = scale * (k1 + 1) * count / (count + norm)
            key = _hash(namespace, term)
            weights[key] = weights.get(key, 0.0) + weight
    return weights


def query_terms(question: str, language: str | None) -> dict[int, str]:
    """What a question asks for: term hash to readable term, unigrams and bigrams.

    Question phrases (`what is the`, `how many`, 多少) and stop words are left out. Of bigrams
    those of content words and linking words stay (`right to`, `to erasure`); where the
    question has no content word, all of them. At most `MAX_QUERY_TERMS` of each, the first.
    """
    found = list(_question_tokens(question, language))
    words = {term: token.surface for token in found if not token.is_stop for term in token.terms}
    is_vague = not words.keys() - {"not"}
    pairs = dict(_pairs(found if is_vague else _phrase_tokens(found)))
    terms = {_hash(_UNIGRAM, t): s for t, s in islice(words.items(), MAX_QUERY_TERMS)}
    for pair, readable in islice(pairs.items(), MAX_QUERY_TERMS):
        terms.setdefault(_hash(_BIGRAM, pair), readable)
    return terms


def content_words(text: str, language: str | None) -> list[str]:
    """The words that say what a text is about, stemmed, in order, with repetition.

    One term a word, numbers included; question words and stop words give none. Scripts
    without blanks give their 2-grams (a lone character gives itself).
    """
    return [
        token.terms[0]
        for token in _without_covered_characters(_question_tokens(text, language))
        if not token.is_stop
    ]


def term_of(text: str) -> Term:
    """The term of an analysed unigram, as `unigrams` gives it."""
    return Term(text, _hash(_UNIGRAM, text))


def _question_tokens(question: str, language: str | None) -> Iterator[Token]:
    """Tokens of a question, its question words marked as stop words."""
    for phrase in CHINESE_QUESTION_PHRASES:
        question = question.replace(phrase, " ")
    previous = ""
    for token in tokens(question, language):
        is_asking = token.surface in QUESTION_WORDS or (
            previous == "how" and token.surface in HOW_WORDS
        )
        previous = token.surface
        if is_asking and language in (None, "en"):
            token = replace(token, is_stop=True)
        yield token


def _phrase_tokens(found: Iterable[Token]) -> Iterator[Token]:
    """Leave out stop words that link nothing; what follows one starts a phrase."""
    starts_phrase = False
    for token in found:
        if token.is_stop and token.surface not in LINKING_WORDS:
            starts_phrase = True
        else:
            yield replace(token, starts_phrase=token.starts_phrase or starts_phrase)
            starts_phrase = False


def _pairs(found: Iterable[Token]) -> Iterator[tuple[str, str]]:
    """Yield (stemmed pair, readable pair) of neighbours in one phrase."""
    for first, second in pairwise(found):
        if not (first.is_run or second.is_run or second.starts_phrase):
            yield f"{first.terms[0]} {second.terms[0]}", f"{first.surface} {second.surface}"


def _without_covered_characters(found: Iterable[Token]) -> Iterator[Token]:
    """Leave out single characters of a run that a 2-gram holds already."""
    previous = ""
    pending: Token | None = None
    for token in found:
        if pending is not None:
            if not (token.is_run and len(token.surface) == 2):
                yield pending
            pending = None
        if token.is_run and len(token.surface) == 1 and not previous.endswith(token.surface):
            pending = token
        elif not (token.is_run and len(token.surface) == 1):
            yield token
        previous = token.surface if token.is_run and len(token.surface) == 2 else ""
    if pending is not None:
        yield pending


@lru_cache(maxsize=65536)
def _hash(namespace: str, term: str) -> int:
    digest = blake2b(f"{namespace}:{term}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % HASH_RANGE + 1
