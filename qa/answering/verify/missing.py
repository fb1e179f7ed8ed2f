"""Whether what a model calls missing may be shown.

It is the one sentence of a reply that cites nothing, so it may say nothing of its own: its
words come from the question and the passages, but not from a paragraph that gives orders to
whoever answers, and it passes the output policy. Otherwise a planted instruction could speak
through it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from documents.ingestion.analysis import content_words
from qa.answering.verify.output_policy import check_output_policy
from qa.answering.verify.planted import planted_paragraphs, without_planted
from qa.answering.verify.source import GENERIC, language_of
from qa.records import Passage

MAX_CHARACTERS: Final = 200
_LEAST_SHARE: Final = 0.6  # as for the support of a claim
_DIGITS: Final = re.compile(r"\d+")


def may_say_missing(
    text: str, *, question: str, passages: Sequence[Passage], allowed_domains: frozenset[str]
) -> bool:
    """Whether a model's word on what is missing may be shown to the reader.

    Args:
        text: what the model says is missing.
        question: the reader's question.
        passages: what was supplied.
        allowed_domains: hosts that may be named.
    """
    texts = [passage.text for passage in passages]
    headings = [f"{passage.document}\n{passage.section_title}" for passage in passages]
    known = "\n".join([question, *headings, *map(without_planted, texts)])
    if len(text) > MAX_CHARACTERS or not _is_known(text, known):
        return False
    if any((_share(text, p) or 0) >= _LEAST_SHARE for p in planted_paragraphs(texts)):
        return False
    return check_output_policy(text, (), allowed_domains).passed


def _is_known(text: str, known: str) -> bool:
    if set(_DIGITS.findall(text)) - set(_DIGITS.findall(known)):
        return False
    share = _share(text, known)
    return share is None or share >= _LEAST_SHARE


def _share(text: str, known: str) -> float | None:
    """The share of the text's own words that `known` holds; None when it has none."""
    language = language_of(text)
    words = [word for word in content_words(text, language) if word not in GENERIC]
    held = set(content_words(known, language))
    return sum(word in held for word in words) / len(words) if words else None
