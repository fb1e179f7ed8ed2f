"""The last look at an asker's rights before text leaves, and the record where it may not.

A question takes seconds, and a label can be revoked within one. What was found is therefore
looked up again, with the rights of that moment, before each event that carries text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import date

from documents import access, audit
from documents.access import Reader
from documents.errors import ValidationProblem
from qa import answer_log, keys
from qa.models import QuestionRecord

logger = logging.getLogger(__name__)

WITHHELD_NOTICE = answer_log.OUT_OF_REACH  # a stored answer says the same


def is_readable_now(
    asker: Reader, chunk_ids: Iterable[str], *, as_of: date, key_id: int | None
) -> bool:
    """Whether the asker may read all these chunks by what holds now.

    Args:
        asker: who asked; their rights are looked up anew.
        chunk_ids: public ids of what was found; of none, True while the asker may ask at all.
        as_of: the day whose rules were asked for.
        key_id: of the API key that the question came with, which may be revoked by now.
    """
    if key_id is not None and not keys.is_in_force(key_id):
        return False
    try:
        with access.reading_as(asker.renewed(), as_of) as reading:
            return access.are_readable(reading, chunk_ids)
    except ValidationProblem:  # the day lies ahead, and the right to read ahead is gone
        return False


def record_withheld(question_id: int, *, shown_claims: int) -> None:
    """Write down that an answer was withheld because a right was lost while it was made."""
    with access.editing():
        question = QuestionRecord.objects.get(pk=question_id)
        audit.record(
            "answer_withheld",
            question,
            actor=None,
            after={"reason": "rights_changed", "sentences_shown_before": shown_claims},
        )
    logger.info("Answer %s was withheld: rights changed while it was made.", question.public_id)
