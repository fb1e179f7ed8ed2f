"""Compares the words of questions and answers on record with what the audit trail says of them.

The words lie in rows that can be erased, and so could be changed; the trail holds their digests.
Erased words are passed over: there is nothing left to compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from documents import access, audit
from documents.audit import Told
from qa import answer_log
from qa.models import QuestionText

_QUESTION = ("question_asked", "question_digest")
_ANSWERS = (("question_answered", "answer_digest"), ("question_refused", "answer_digest"))
_DIGESTS = dict([_QUESTION, *_ANSWERS])
_BATCH = 500


def altered() -> Iterator[tuple[int, str]]:
    """The event and a sentence, for each question or answer that is not the one told of."""
    with access.editing():
        told = audit.told_of("questionrecord", tuple(_DIGESTS))
        while batch := list(islice(told, _BATCH)):
            yield from _altered(batch)


def _altered(events: list[Told]) -> Iterator[tuple[int, str]]:
    ids = {event.object_id for event in events}
    rows = QuestionText.objects.filter(question_record__public_id__in=ids)
    words = {
        str(row.question_record.public_id): row for row in rows.select_related("question_record")
    }
    for event in events:
        row, digest = words.get(event.object_id), event.after.get(_DIGESTS[event.action])
        if row is None or digest is None:
            continue
        is_question = event.action == _QUESTION[0]
        text = row.question if is_question else answer_log.shown_words(row.shown or {})
        if not answer_log.fits(text, row.salt, digest):
            what = "question" if is_question else "answer to question"
            end = "asked" if is_question else "shown"
            yield event.event_id, f"The {what} {event.object_id} is not the one that was {end}."
