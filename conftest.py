"""Fixtures shared by all apps: real services, people with labels, and a published policy.

The test database is made by the owner's role; every test then connects as the application's
role, so that row-level security holds in tests as it does in production.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from legalqa.services import ensure_running

# The same examples in each run, so that a change is what breaks a test; `deep` looks for more:
# make test PYTEST_ARGS="--hypothesis-profile=deep".
hypothesis_settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.register_profile(
    "deep", deadline=None, max_examples=3000, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Start or join the embedded services before Django looks for its database."""
    ensure_running()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of tests that start processes and wait for them go first, so that none is left last."""
    items.sort(key=lambda item: item.get_closest_marker("services") is None)


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Create and migrate the test database as the owner."""
    from django.conf import settings
    from django.db import connections

    test_name = os.environ.get("LEGALQA_TEST_DATABASE")  # two runs at once on one cluster
    worker = os.environ.get("PYTEST_XDIST_WORKER")  # several processes of one run
    if test_name or worker:
        given = connections["default"].settings_dict
        name = test_name or f"test_{given['NAME']}"
        given["TEST"]["NAME"] = f"{name}_{worker}" if worker else name
    connections["default"].settings_dict["USER"] = settings.DATABASE_OWNER_USER
    connections["default"].settings_dict["PASSWORD"] = settings.DATABASE_OWNER_PASSWORD


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: pytest.FixtureRequest
) -> Iterator[None]:
    """Hand the migrated test database to the application's role, and take it back to drop it."""
    from django.apps import apps
    from django.conf import settings
    from django.db import connections
    from django.db.models.signals import post_migrate

    connection = connections["default"]
    with django_db_blocker.unblock():  # type: ignore[attr-defined]  # pytest-django's blocker
        with connection.cursor() as cursor:  # for the flush after transactional tests
            cursor.execute("grant truncate on all tables in schema public to legalqa_app")
        _become(connection, "legalqa_app", "")
    post_migrate.connect(_make_groups_again, sender=apps.get_app_config("evaluation"))
    yield
    with django_db_blocker.unblock():  # type: ignore[attr-defined]  # pytest-django's blocker
        with connection.cursor() as cursor:  # connections that other threads left open
            cursor.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
                " and usename = current_user"  # a role may end its own alone
            )
        _become(connection, settings.DATABASE_OWNER_USER, settings.DATABASE_OWNER_PASSWORD)


def _make_groups_again(**_: object) -> None:
    """After a test that committed, all tables are emptied: also those that a migration filled."""
    from django.apps import apps

    groups = importlib.import_module("documents.migrations.0005_groups")
    groups.create_groups(apps, None)
    deletion = importlib.import_module("documents.migrations.0009_deletion_and_reviews")
    deletion.let_administrators_delete(apps, None)
    erasure = importlib.import_module("qa.migrations.0003_erasure_of_questions")
    erasure.let_groups(apps, None)


def _become(connection: object, user: str, password: str) -> None:
    connection.close()  # type: ignore[attr-defined]  # a Django connection
    connection.settings_dict.update(USER=user, PASSWORD=password)  # type: ignore[attr-defined]  # a Django connection


@pytest.fixture(autouse=True)
def _own_files(settings, tmp_path_factory) -> None:
    """Uploads of a test go to a folder of its own."""
    settings.FILES_DIR = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp()))
    settings.STATIC_ROOT = settings.FILES_DIR  # WhiteNoise warns of a folder that is not there
    settings.ANTHROPIC_API_KEY = ""
    settings.APPROVAL = "any"
    in_memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    settings.CACHES = {
        alias: in_memory | {"LOCATION": f"{alias}-{settings.FILES_DIR}"}
        for alias in settings.CACHES
    }
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
