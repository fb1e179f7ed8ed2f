"""Rows that the tests of one module share: made once, rolled back at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.test import override_settings


@contextmanager
def built_once(blocker: Any, folder: Path) -> Iterator[None]:
    """A transaction around a whole module, with the settings that every test has.

    Marked as a test case's, as pytest-django's own are, so that a reading may open what it
    takes for the outermost one. Each test's own transaction lies inside, and is rolled back.
    """
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # what Django's TestCase sets
    in_memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    kept = override_settings(
        FILES_DIR=folder,
        STATIC_ROOT=folder,  # WhiteNoise warns of a folder that is not there
        STORAGES={
            **settings.STORAGES,
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
        ANTHROPIC_API_KEY="",
        APPROVAL="any",
        CACHES={
            name: in_memory | {"LOCATION": f"{name}-{folder}"} for name in ("default", "local")
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    )
    with blocker.unblock(), kept, block:
        yield
        transaction.set_rollback(True)
