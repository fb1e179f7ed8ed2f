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
from documents.models import AccessClass

Classes = frozenset[int]
_SEARCH, _OPEN_SEARCH = "documents_retrieve(", "worlds_retrieve("
_OWN_FILTERS = (
    r"[a-z]*\.?access_class(_id)? = any \(cls\)",
    r"[a-z]+\.effective_from <= day",
    r"[a-z]+\.effective_to >= day",
)


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
        owner.execute("select '[1]'::halfvec")  # loads the library that knows hnsw.*
        owner.execute(_open_search(owner))
        try:
            with connection.execute_wrapper(_redirect), _wide_readings():
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


@contextmanager
def _wide_readings() -> Iterator[None]:
    """Readings that tell the application of every class; the database gets the reader's own."""
    every: set[int] = set()
    readable = door._readable_classes

    def noting(held: frozenset[str]) -> tuple[frozenset[int], frozenset[int]]:
        every.update(AccessClass.objects.values_list("pk", flat=True))
        return readable(held)

    def wide(
        reader: Reader, as_of: date, today: date, classes: Classes, hosted: Classes
    ) -> Reading:
        return Reading(reader, as_of, today, frozenset(every), hosted)

    with (
        mock.patch.object(door, "_readable_classes", noting),
        mock.patch.object(door, "Reading", wide),
    ):
        yield


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
