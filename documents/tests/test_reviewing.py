"""Owners are reminded once for each date, and mail that is down loses no reminder (R-29)."""

from __future__ import annotations

import datetime
import socket
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail

from documents import access, reviewing
from documents.models import AuditEvent, Policy, ReviewReminder
from documents.tests import factories
from documents.tests.admin.support import client_of

pytestmark = pytest.mark.django_db
days = datetime.timedelta


def _policy(slug: str, review_in: int | None, **fields) -> Policy:
    with access.editing():
        review_by = access.today() + days(days=review_in) if review_in is not None else None
        return Policy.objects.create(
            slug=slug, title=slug.capitalize(), review_by=review_by, **fields
        )


def _run() -> int:
    reviewing.write_reminders()
    return reviewing.send_reminders()


@pytest.fixture
def owner():
    return factories.user("owner")


def test_an_owner_and_a_contact_are_reminded_once_for_a_date(owner, mailoutbox):
    _policy("soon", 29, owner=owner, contact="legal@example.com")
    _policy("late", -3, owner=owner)
    _policy("far", 31, owner=owner)
    _policy("never", None, owner=owner)

    assert (_run(), _run()) == (2, 0)

    sent = {letter.subject.split()[2]: letter for letter in mailoutbox}
    assert sent.keys() == {"Soon", "Late"}
    assert sent["Soon"].to == ["owner@example.com", "legal@example.com"]
    assert "is due by" in sent["Soon"].subject
    assert "was due on" in sent["Late"].subject
    assert AuditEvent.objects.filter(action="review_reminder_sent").count() == 2


def test_the_next_date_has_a_reminder_of_its_own(owner, mailoutbox):
    policy = _policy("soon", 10, owner=owner)
    _run()
    with access.editing():
        Policy.objects.filter(pk=policy.pk).update(review_by=access.today() + days(days=20))

    assert _run() == 1
    assert len(mailoutbox) == 2


@pytest.mark.parametrize("error", [SMTPServerDisconnected("gone"), ConnectionRefusedError()])
def test_mail_that_is_down_is_tried_again_until_it_works(owner, mailoutbox, monkeypatch, error):
    _policy("soon", 10, owner=owner)

    def fail(*_: object, **__: object) -> int:
        raise error

    with monkeypatch.context() as down:
        down.setattr(mail.EmailMessage, "send", fail)
        assert _run() == 0
        assert _run() == 0
    with access.editing():
        waiting = ReviewReminder.objects.get()
    assert (waiting.attempts, waiting.sent_at) == (2, None)
    assert type(error).__name__ in waiting.problem

    assert _run() == 1
    assert len(mailoutbox) == 1


def test_a_server_that_cannot_be_reached_is_no_crash(owner, settings):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", taken.getsockname()[1]
        _policy("soon", 10, owner=owner)

        assert _run() == 0

    with access.editing():
        assert "tried again every hour" in ReviewReminder.objects.get().problem


def test_a_date_that_was_moved_is_not_reminded_of(owner, mailoutbox):
    policy = _policy("soon", 10, owner=owner)
    reviewing.write_reminders()
    with access.editing():
        Policy.objects.filter(pk=policy.pk).update(review_by=None)

    assert _run() == 0
    assert mailoutbox == []


def test_two_workers_send_one_letter(owner, mailoutbox):
    _policy("soon", 10, owner=owner)
    reviewing.write_reminders()
    with access.editing():
        reminder = ReviewReminder.objects.get()

    assert reviewing._send(reminder.pk, 0) is True
    assert reviewing._send(reminder.pk, 0) is False
    assert len(mailoutbox) == 1


def test_a_policy_without_an_address_says_so_in_the_list(owner, mailoutbox):
    owner.is_active = False
    owner.save()
    _policy("soon", 10, owner=owner, contact="the legal team", department="HR")
    root = client_of(factories.user("root", is_staff=True, is_superuser=True))

    assert _run() == 0
    listed = root.get("/admin/documents/policy/?review=due").content.decode()

    assert "Nobody to remind" in listed
    assert mailoutbox == []
