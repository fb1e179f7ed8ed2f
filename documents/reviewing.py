"""Reminders that a policy is due for review, to its owner and its contact.

A reminder is a row before it is a letter: mail that is down loses nothing, and whoever it is
written to gets it once it works. There is one for each review-by date of a policy. A letter is
sent outside any transaction; a worker that dies between sending and noting it sends it again.
"""

from __future__ import annotations

import datetime
import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db.models import F
from django.db.models.functions import Now

from documents import access, audit
from documents.models import Policy, ReviewReminder

logger = logging.getLogger(__name__)

NOBODY = "Nobody to remind: give the policy an owner, or a contact, with an e-mail address."
_DOWN = "The mail server did not take it ({name}). It is tried again every hour."


def write_reminders() -> int:
    """Write a reminder for each policy whose date comes near or has passed; returns how many.

    What was written for a date that the policy has no more is removed, unless it was sent.
    """
    with access.editing():
        unsent = ReviewReminder.objects.filter(sent_at=None)
        unsent.exclude(policy__review_by=F("review_by")).delete()
        until = access.today() + datetime.timedelta(days=settings.REVIEW_REMINDER_DAYS)
        due = Policy.objects.filter(review_by__lte=until)
        due = due.exclude(review_reminders__review_by=F("review_by"))
        written = ReviewReminder.objects.bulk_create(
            [
                ReviewReminder(
                    policy=policy,
                    review_by=policy.review_by,
                    days_ahead=settings.REVIEW_REMINDER_DAYS,
                )
                for policy in due
                if policy.review_by is not None
            ],
            ignore_conflicts=True,  # two workers at once
        )
        return len(written)


def send_reminders() -> int:
    """Send what was not sent yet; returns how many letters went out."""
    with access.editing():
        waiting = list(ReviewReminder.objects.filter(sent_at=None).values_list("pk", "attempts"))
    return sum(_send(pk, attempts) for pk, attempts in waiting)


def _send(reminder_id: int, attempts: int) -> bool:
    """Try once; False when another worker does, or mail is down."""
    with access.editing():
        mine = ReviewReminder.objects.filter(pk=reminder_id, attempts=attempts, sent_at=None)
        if not mine.update(attempts=attempts + 1):
            return False
        reminder = ReviewReminder.objects.select_related("policy__owner").get(pk=reminder_id)
        to = recipients(reminder.policy)
        today = access.today()
    problem = _deliver(reminder, to, today) if to else NOBODY
    with access.editing():
        mine = ReviewReminder.objects.filter(pk=reminder_id)
        if problem:
            mine.update(problem=problem)
            return False
        mine.update(problem="", sent_at=Now(), sent_to=to)
        after = {"review_by": reminder.review_by.isoformat(), "to": len(to)}
        audit.record("review_reminder_sent", reminder.policy, actor=None, after=after)
    return True


def _deliver(reminder: ReviewReminder, to: list[str], today: datetime.date) -> str:
    """Send a letter; what went wrong, in words, or nothing."""
    try:
        _letter(reminder, to, today).send()
    except (SMTPException, OSError) as error:
        logger.warning("A reminder could not be sent: %s", type(error).__name__)
        return _DOWN.format(name=type(error).__name__)
    return ""


def recipients(policy: Policy) -> list[str]:
    """The addresses of a policy's owner and contact, each once; none of a closed account."""
    owner = policy.owner
    given = [owner.email if owner and owner.is_active else "", policy.contact.strip()]
    return list(dict.fromkeys(address for address in given if _is_address(address)))


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _letter(reminder: ReviewReminder, to: list[str], today: datetime.date) -> EmailMessage:
    policy, on = reminder.policy, reminder.review_by
    title = " ".join(policy.title.split())
    when = f"was due on {on}" if on < today else f"is due by {on}"
    return EmailMessage(
        subject=f"Review of {title} {when}",
        body=(
            f"The review of the policy {title} {when}.\n\n"
            "Read it through. Where it still holds, set the next date in the admin, under "
            f"Policies, {title}, Review by. Where it does not, upload the next version there.\n\n"
            "You get this because you are named as its owner or contact.\n"
        ),
        to=to,
    )
