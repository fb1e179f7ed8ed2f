"""How a value of a column is written as JSON, and read back to the last bit."""

from __future__ import annotations

import base64
import datetime
import uuid
from typing import Any

from django.contrib.postgres.fields import DateRangeField
from django.db import models
from django.db.backends.postgresql.psycopg_any import DateRange
from pgvector import HalfVector, SparseVector
from pgvector.django import SparseVectorField


def written(value: Any) -> Any:
    """A value of a row as JSON holds it."""
    match value:
        case datetime.datetime():
            return value.astimezone(datetime.UTC).isoformat(timespec="microseconds")
        case datetime.date() | uuid.UUID():
            return str(value)
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case SparseVector():
            return base64.b64encode(value.to_binary()).decode()
    if hasattr(value, "lower") and hasattr(value, "upper") and not isinstance(value, str):
        return [written(value.lower), written(value.upper)]
    return value


def read(column: models.Field[Any, Any], value: Any) -> Any:
    """A value for a column from what `written` made of it.

    Raises:
        ValueError: it is no such value.
    """
    if value is None:
        return None
    match column:
        case DateRangeField():
            first, end = (datetime.date.fromisoformat(day) if day else None for day in value)
            return DateRange(first, end)
        case SparseVectorField():
            return SparseVector.from_binary(base64.b64decode(value, validate=True))
        case models.BinaryField():
            return base64.b64decode(value, validate=True)
        case models.DateTimeField():
            return datetime.datetime.fromisoformat(value)
        case models.DateField():
            return datetime.date.fromisoformat(value)
        case models.UUIDField():
            return uuid.UUID(value)
    return value


def vector_written(vector: Any) -> str:
    """The bits of a vector."""
    exact = vector if isinstance(vector, HalfVector) else HalfVector(vector)
    return base64.b64encode(exact.to_binary()).decode()


def vector_read(text: str) -> HalfVector:
    """The vector of these bits.

    Raises:
        ValueError: they are none.
    """
    return HalfVector.from_binary(base64.b64decode(text, validate=True))
