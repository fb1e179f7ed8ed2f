"""A process that serves people does not start with a role that could bypass the policies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from legalqa import services

ROOT = Path(__file__).resolve().parents[2]
WEB = [sys.executable, "-c", "import legalqa.asgi"]
WORKER = [sys.executable, "-m", "celery", "-A", "legalqa.celery:app", "worker", "--concurrency=1"]

pytestmark = pytest.mark.services


def _start(command: list[str], user: str) -> subprocess.CompletedProcess[str]:
    address = services.addresses()
    url = address.database_url.replace("legalqa_app@", f"{user}@")
    environment = os.environ | {
        "DATABASE_URL": url,
        "DATABASE_OWNER_URL": address.database_owner_url,
        # a broker of its own: a worker that did start must take nobody's work
        "REDIS_URL": address.redis_url.replace("virtual_host=0", "virtual_host=12"),
        "DJANGO_SECRET_KEY": "x" * 50,
    }
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module", autouse=True)
def _migrated() -> None:
    """The services' own database, not a test's: these processes read it and change nothing."""
    command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=240)


@pytest.mark.parametrize(
    ("command", "user"),
    [(WEB, "legalqa_owner"), (WEB, "postgres"), (WEB, "legalqa_backup"), (WORKER, "postgres")],
)
def test_a_role_that_could_bypass_the_policies_stops_the_start(command, user):
    done = _start(command, user)

    assert done.returncode != 0
    assert "could bypass row-level security" in done.stderr
    assert "legalqa_app" in done.stderr


def test_the_applications_role_starts():
    assert _start(WEB, "legalqa_app").returncode == 0


def test_a_database_that_is_down_does_not_stop_the_start(tmp_path):
    done = subprocess.run(
        WEB,
        cwd=ROOT,
        env=os.environ
        | {
            "DATABASE_URL": f"postgresql://legalqa_app@/legalqa?host={tmp_path}",
            "DATABASE_OWNER_URL": f"postgresql://legalqa_owner@/legalqa?host={tmp_path}",
            "REDIS_URL": services.addresses().redis_url,
            "DJANGO_SECRET_KEY": "x" * 50,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
