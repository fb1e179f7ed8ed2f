"""Takes the application's own filters away, so that row security alone stands between."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any
from unittest import mock

import psycopg
from django.conf import settings
from django.db import connection

from documents.access import Reader, Reading, door

_SEARCH, _OPEN_SEARCH = "documents_retrieve(", "worlds_retrieve("
_OWN_FILTERS = (
    r"[a-z]*\.?access_class(_id)? = any \(cls\)",
    r"[a-z]+\.effective_from <= day",
    r"[a-z]+\.effective_to >= day",
)
EVERY_CLASS = frozenset(range(1, 200_000))


@contextmanager
def as_owner() -> Iterator[psycopg.Connection[Any]]:
    """A connection that may change the schema of the test database; it commits."""
    given = connection.settings_dict
    with psycopg.connect(
        host=given["HOST"],
        port=given["PORT"] or None,
        dbname=given["NAME"],
        user=settings.DATABASE_OWNER_USER,
        password=settings.DATABASE_OWNER_PASSWORD or None,
        autocommit=True,
    ) as owner:
        yield owner


@contextmanager
def no_filters() -> Iterator[None]:
    """Searches ask for every chunk of every class and day, and readings name every class."""
    with as_owner() as owner:
        owner.execute(_open_search(owner))
        try:
            with connection.execute_wrapper(_redirect), mock.patch.object(door, "Reading", _wide):
                yield
        finally:
            owner.execute("drop function worlds_retrieve")


def _open_search(owner: psycopg.Connection[Any]) -> str:
    row = owner.execute(
        "select pg_get_functiondef(oid) from pg_proc where proname = 'documents_retrieve'"
    ).fetchone()
    assert row is not None
    source = str(row[0]).replace("documents_retrieve(", "worlds_retrieve(", 1)
    for pattern in _OWN_FILTERS[:2]:
        source, count = re.subn(pattern, "true", source)
        assert count >= 3, f"the search filters no more by {pattern}"
    return re.sub(_OWN_FILTERS[2], "true", source)


def _redirect(execute: Callable[..., Any], sql: str, *args: Any) -> Any:
    return execute(sql.replace(_SEARCH, _OPEN_SEARCH), *args)


def _wide(
    reader: Reader, as_of: date, today: date, classes: frozenset[int], hosted: frozenset[int]
) -> Reading:
    return Reading(reader, as_of, today, EVERY_CLASS, hosted)


@contextmanager
def no_row_security(table: str) -> Iterator[None]:
    """Breaks the database on purpose: readers see every row of a table."""
    with as_owner() as owner:
        row = owner.execute(
            "select qual from pg_policies where tablename = %s and policyname = 'reader'", [table]
        ).fetchone()
        assert row is not None
        owner.execute(f"alter policy reader on {table} using (true)")
        try:
            yield
        finally:
            owner.execute(f"alter policy reader on {table} using ({row[0]})")
