"""The one way to read policies.

Every employee-facing read runs inside `reading_as`: it opens the outermost transaction, takes
the role `legalqa_reader` and sets the reader's access classes and date for that transaction
only. Row-level security does the rest: what the settings do not name, the database does not
return. `editing` is the other way in, for workers and staff. Without either, the
application's role sees no row of a protected table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction

from documents.errors import AccessError, UnknownLabelError, ValidationProblem
from documents.models import AccessClass, AccessLabel, LabelGrant

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.backends.utils import CursorWrapper

_KEYS = (
    "role",
    "legalqa.classes",
    "legalqa.as_of",
    "legalqa.ends_before",
    "legalqa.reader",
    "legalqa.scope",
)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads: a user, or a bare set of labels on the command line.

    `key_labels` narrows a user's labels to those of an API key; None: no narrowing.
    """

    user_id: int | None
    name: str
    labels: frozenset[str] | None = None  # given outright: no user
    key_labels: frozenset[str] | None = None
    may_read_scheduled: bool = False

    @classmethod
    def for_user(cls, user: User, *, key_labels: Iterable[str] | None = None) -> Reader:
        """The person `user`, with the rights they hold now."""
        return cls(
            user_id=user.pk,
            name=user.get_username(),
            key_labels=frozenset(key_labels) if key_labels is not None else None,
            may_read_scheduled=user.has_perm("documents.read_scheduled"),
        )

    def renewed(self) -> Reader:
        """The same person with the rights they hold now; nobody once the account is gone.

        Labels are looked up for each reading anyway; this is for what is kept here.
        """
        from django.contrib.auth import get_user_model

        if self.user_id is None:
            return self
        user = get_user_model().objects.filter(pk=self.user_id, is_active=True).first()
        if user is None:
            return replace(self, labels=frozenset(), may_read_scheduled=False)
        return Reader.for_user(user, key_labels=self.key_labels)

    @classmethod
    def with_labels(cls, slugs: Iterable[str]) -> Reader:
        """Nobody in particular, holding exactly these labels.

        Raises:
            UnknownLabelError: a slug that does not exist; the message lists those that do.
        """
        wanted = frozenset(slugs)
        require_labels(wanted)
        return cls(user_id=None, name="labels:" + ",".join(sorted(wanted)), labels=wanted)


@dataclass(frozen=True, slots=True)
class Reading:
    """An open transaction in which only what `reader` may read on `as_of` exists.

    Made by `reading_as` alone; retrieval takes nothing else.
    """

    reader: Reader
    as_of: date
    today: date
    classes: frozenset[int]
    hosted_classes: frozenset[int]  # those whose text may be sent to a hosted model


def require_labels(slugs: Iterable[str]) -> list[AccessLabel]:
    """The labels with these slugs.

    Raises:
        UnknownLabelError: one does not exist.
    """
    wanted = sorted(set(slugs))
    found = list(AccessLabel.objects.filter(slug__in=wanted))
    missing = sorted(set(wanted) - {label.slug for label in found})
    if missing:
        known = ", ".join(AccessLabel.objects.values_list("slug", flat=True)) or "none yet"
        raise UnknownLabelError(
            f"There is no label {', '.join(missing)}. Labels that exist: {known}."
        )
    return found


def labels_of(reader: Reader) -> frozenset[str]:
    """The slugs that `reader` holds now: own, by group, and everyone's label."""
    if reader.labels is not None:
        return reader.labels
    if reader.user_id is None:
        return frozenset()
    return _labels_of_user(reader, reader.user_id)


def _labels_of_user(reader: Reader, user_id: int) -> frozenset[str]:
    from django.contrib.auth import get_user_model

    if not get_user_model().objects.filter(pk=user_id, is_active=True).exists():
        return frozenset()  # a disabled account reads nothing, whatever its session says
    own = LabelGrant.objects.filter(user_id=user_id)
    by_group = LabelGrant.objects.filter(group__user=user_id)
    held = set((own | by_group).values_list("label__slug", flat=True).distinct())
    if settings.EVERYONE_LABEL:
        held.add(settings.EVERYONE_LABEL)
    if reader.key_labels is not None:
        held &= reader.key_labels
    return frozenset(held)


def class_for(labels: Iterable[AccessLabel]) -> AccessClass:
    """The access class of a set of labels, made if it is new."""
    key = sorted({label.pk for label in labels})
    return AccessClass.objects.get_or_create(key=key)[0]


def _readable_classes(held: frozenset[str]) -> tuple[frozenset[int], frozenset[int]]:
    """The ids of the classes that a holder of `held` may read, and the hosted ones of them.

    A class needs one held audience and no restriction that is not held; a class without an
    audience is readable by nobody.
    """
    labels = {label.pk: label for label in AccessLabel.objects.all()}
    readable, hosted = set(), set()
    for access_class in AccessClass.objects.all():
        marks = [labels.get(pk) for pk in access_class.key]
        if None in marks:
            continue  # a label was deleted under it: fail closed
        known = [mark for mark in marks if mark is not None]
        audiences = {m.slug for m in known if m.role == AccessLabel.Role.AUDIENCE}
        restrictions = {m.slug for m in known if m.role != AccessLabel.Role.AUDIENCE}
        if audiences & held and restrictions <= held:
            readable.add(access_class.pk)
            if all(mark.hosted_model_allowed for mark in known):
                hosted.add(access_class.pk)
    return frozenset(readable), frozenset(hosted)


def today() -> date:
    """The database clock's date in the office's time zone."""
    with connection.cursor() as cursor:
        cursor.execute("select (now() at time zone %s)::date", [settings.OFFICE_TIME_ZONE])
        row = cursor.fetchone()
    return row[0]  # type: ignore[no-any-return]  # a date, by the cast in the statement


@contextmanager
def reading_as(reader: Reader, as_of: date | None = None) -> Iterator[Reading]:
    """Read as `reader`, from the versions in force on `as_of` (default: today).

    Opens the outermost transaction, so nothing set here outlives it; refuses to be nested.
    A lazy queryset evaluated after the block returns nothing: take records out of it.

    Raises:
        ValidationProblem: `as_of` lies after today and the reader may not read ahead.
        AccessError: called inside another `reading_as` or `editing`.
    """
    if _is_switched():
        raise AccessError("reading_as must open the outermost transaction")
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        now = today()
        day = as_of or now
        _require_day(reader, day, now)
        classes, hosted = _readable_classes(labels_of(reader))
        values = {
            "role": settings.READER_ROLE,
            "legalqa.classes": ",".join(map(str, sorted(classes))),
            "legalqa.as_of": day.isoformat(),
            # A last day to come tells of the version that begins after it.
            "legalqa.ends_before": (date.max if reader.may_read_scheduled else now).isoformat(),
            "legalqa.reader": str(reader.user_id or ""),
        }
        with _settings(cursor, values):
            yield Reading(reader, day, now, classes, hosted)


def _require_day(reader: Reader, day: date, now: date) -> None:
    if day > now and not reader.may_read_scheduled:
        raise ValidationProblem(
            f"The date {day} lies in the future. Choose today ({now}) or an earlier date.",
            code="as_of_in_future",
        )


@contextmanager
def on_day(reading: Reading, day: date) -> Iterator[Reading]:
    """The same open reading on another day, until the block ends.

    Raises:
        ValidationProblem: the day lies after today and the reader may not read ahead.
    """
    _require_day(reading.reader, day, reading.today)
    # In a savepoint, so that an error puts the day back as well.
    with transaction.atomic(), connection.cursor() as cursor:
        setting = "select set_config('legalqa.as_of', %s, true)"
        cursor.execute(setting, [day.isoformat()])
        yield replace(reading, as_of=day)
        cursor.execute(setting, [reading.as_of.isoformat()])


@contextmanager
def editing() -> Iterator[None]:
    """Work as the system or as staff: every protected row, until the block ends."""
    if _is_reading():
        raise AccessError("editing may not be opened while reading as somebody")
    with (
        transaction.atomic(),
        connection.cursor() as cursor,
        _settings(cursor, {"legalqa.scope": "all"}),
    ):
        yield


@contextmanager
def _settings(cursor: CursorWrapper, values: dict[str, str]) -> Iterator[None]:
    """Set the access settings for this block and put back what was there.

    SET LOCAL outlives the release of a savepoint, so leaving must restore by itself. After an
    error the savepoint's rollback has restored already, and the connection may be unusable.
    """
    selected = ", ".join(["current_setting(%s, true)"] * len(_KEYS))
    cursor.execute(f"select {selected}", _KEYS)
    row = cursor.fetchone() or ()
    before = {key: value or "" for key, value in zip(_KEYS, row, strict=True)}
    _set(cursor, dict.fromkeys(_KEYS, "") | values)
    yield
    _set(cursor, before)


def _set(cursor: CursorWrapper, values: dict[str, str]) -> None:
    values = values | {"role": values["role"] or "none"}
    calls = ", ".join(["set_config(%s, %s, true)"] * len(values))
    flat = [item for pair in values.items() for item in pair]
    cursor.execute(f"select {calls}", flat)


def _current(key: str) -> str:
    if not connection.in_atomic_block:
        return ""
    with connection.cursor() as cursor:
        cursor.execute("select coalesce(current_setting(%s, true), '')", [key])
        row = cursor.fetchone()
    return str(row[0]) if row else ""


def _is_reading() -> bool:
    return _current("role") == settings.READER_ROLE


def _is_switched() -> bool:
    return _is_reading() or _current("legalqa.scope") == "all"
