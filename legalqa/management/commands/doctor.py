"""Check every part that legalqa needs, and say how to mend what fails."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import redis
from celery import current_app
from django.conf import settings
from django.core.checks import run_checks
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from kombu.exceptions import OperationalError as BrokerDown

from documents import embedding, health, proof, reindexing, stored_files
from documents.errors import EmbeddingError, ParseError
from documents.ingestion.confined.program import run_program
from documents.ingestion.confined.run import CannotStartError, parse_confined
from documents.ingestion.confined.walls import missing_walls
from documents.ingestion.ocr import find_tesseract
from legalqa import services

MINIMUM_FREE_BYTES = 1024**3
MAXIMUM_SKEW_SECONDS = 5
BROKER_ERRORS = (OSError, redis.RedisError, BrokerDown)


@dataclass(frozen=True, slots=True)
class Part:
    """One part: whether it works, what was seen, and how to mend it if not."""

    name: str
    is_well: bool
    seen: str
    remedy: str = ""


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own type

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        parts = [check() for check in CHECKS]
        if options["json"]:
            import json

            self.stdout.write(
                json.dumps([{f: getattr(p, f) for f in Part.__slots__} for p in parts], indent=2)
            )
        else:
            for part in parts:
                mark = "ok  " if part.is_well else "FAIL"
                self.stdout.write(f"{mark} {part.name}: {part.seen}")
                if not part.is_well:
                    self.stdout.write(f"     {part.remedy}")
        ill = [part.name for part in parts if not part.is_well]
        if ill:
            raise CommandError(f"Not well: {', '.join(ill)}.")


def _database() -> Part:
    remedy = "Start Postgres or check DATABASE_URL; for trial, unset it and run: make run"
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "select current_setting('server_version'), (select extversion from pg_extension"
                " where extname = 'vector')"
            )
            row = cursor.fetchone() or ("", None)
    except DatabaseError as error:
        return Part("database", False, str(error).splitlines()[0], remedy)
    trial = " (embedded: for trial, not production)" if services.is_embedded() else ""
    if row[1] is None:
        return Part(
            "database",
            False,
            "the extension vector is missing",
            "Run legalqa/bootstrap.sql as a superuser.",
        )
    return Part("database", True, f"Postgres {row[0]}, pgvector {row[1]}{trial}")


def _migrations() -> Part:
    try:
        plan = MigrationExecutor(connection).migration_plan(
            MigrationExecutor(connection).loader.graph.leaf_nodes()
        )
    except DatabaseError as error:
        return Part("migrations", False, str(error).splitlines()[0], "See database.")
    return Part("migrations", not plan, f"{len(plan)} to apply", "Run: python manage.py migrate")


def _roles() -> Part:
    try:
        messages = run_checks(databases=["default"])
    except DatabaseError as error:
        return Part("roles", False, str(error).splitlines()[0], "See database.")
    found = [m for m in messages if (m.id or "").startswith("documents.")]
    remedy = " ".join(str(m.hint) for m in found if m.hint) or "See database."
    return Part("roles", not found, "; ".join(m.msg for m in found) or "enforced", remedy)


def _broker() -> Part:
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=3)
    except BROKER_ERRORS as error:
        return Part(
            "broker",
            False,
            str(error).splitlines()[0] or type(error).__name__,
            "Start Redis or check REDIS_URL; uploads wait safely until then.",
        )
    return Part("broker", True, "Redis answers")


def _worker() -> Part:
    remedy = "Start one: celery -A legalqa worker (make run does); uploads wait safely until then."
    try:
        answers = current_app.control.ping(timeout=2) or []
    except BROKER_ERRORS:
        answers = []
    return Part("worker", bool(answers), f"{len(answers)} answering", remedy)


def _uploads() -> Part:
    try:
        waiting = health.backlog()
    except DatabaseError as error:
        return Part("uploads", False, str(error).splitlines()[0], "See database.")
    if not waiting.versions:
        return Part("uploads", True, "none waits")
    seen = f"{waiting.versions} under way, the oldest untouched for {waiting.oldest_seconds:.0f} s"
    remedy = "See worker and sweeper; with both well, the queue is long: start more workers."
    return Part("uploads", waiting.oldest_seconds < health.LONGEST_WAIT_SECONDS, seen, remedy)


def _sweeper() -> Part:
    seconds = health.seconds_since_sweep()
    remedy = "Start beat: celery -A legalqa beat (make run does), and see worker."
    if seconds is None:
        return Part("sweeper", False, "has not run since Redis was started or emptied", remedy)
    seen = f"ran {seconds:.0f} s ago"
    return Part("sweeper", seconds < health.LONGEST_WAIT_SECONDS, seen, remedy)


def _files() -> Part:
    try:
        report = stored_files.compare()
    except DatabaseError as error:
        return Part("files", False, str(error).splitlines()[0], "See database.")
    seen = f"{report.files} stored, {len(report.missing)} missing"
    remedy = "Run: python manage.py check_files, and restore what it names from a backup."
    return Part("files", not report.missing, seen, remedy)


def _model() -> Part:
    try:
        vector = embedding.encode_query("How long is data kept?", "en")
    except EmbeddingError as error:
        return Part("model", False, error.message, "Run: make setup")
    spec = embedding.model_for("en")
    return Part("model", True, f"{spec.id if spec else 'none'}, {len(vector)} dimensions")


def _key() -> Part:
    if settings.ANTHROPIC_API_KEY:
        return Part("key", True, f"set; answers come from {settings.CLAUDE_MODEL}")
    return Part("key", True, "not set; answers are quoted by the extractive answerer")


def _parsers() -> Part:
    """Less than all walls is no fault of the site: limits of time and memory hold everywhere."""
    try:
        parse_confined(b"Keys are returned daily.", file_name="doctor.txt")
    except (CannotStartError, ParseError, OSError) as error:
        remedy = "Install the requirements again (make setup), readable for the worker's user."
        return Part("parsers", False, str(error), remedy)
    missing = missing_walls()
    if not missing:
        return Part("parsers", True, "each file is read in a confined child process")
    lacking = " and ".join(missing)
    return Part("parsers", True, f"confined by time and memory, but {lacking}: use a newer Linux")


def _recognition() -> Part:
    """No Tesseract is no fault: files of scanned pages are then refused, with the pages named."""
    if not settings.OCR_MAX_PAGES:
        return Part("recognition", True, "switched off (LEGALQA_OCR_MAX_PAGES)")
    try:
        tesseract = find_tesseract(run_program)
    except ParseError as error:
        return Part("recognition", False, error.message, "Install Tesseract again.")
    if tesseract is None:
        return Part("recognition", True, "no Tesseract: scanned pages are refused, not read")
    return Part("recognition", True, f"Tesseract reads {', '.join(tesseract.languages)}")


def _disk() -> Part:
    settings.FILES_DIR.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.FILES_DIR).free
    return Part(
        "disk",
        free >= MINIMUM_FREE_BYTES,
        f"{free / 1024**3:.1f} GiB free",
        "Free at least 1 GiB, or move LEGALQA_FILES_DIR.",
    )


def _clock() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select now()")
            row = cursor.fetchone()
    except DatabaseError as error:
        return Part("clock", False, str(error).splitlines()[0], "See database.")
    skew = abs((datetime.datetime.now(datetime.UTC) - row[0]).total_seconds()) if row else 0.0
    return Part(
        "clock",
        skew <= MAXIMUM_SKEW_SECONDS,
        f"{skew:.1f} s from the database's",
        "Synchronise both clocks (NTP): dates in force follow the database's.",
    )


def _audit() -> Part:
    """Whether the sealer keeps up; `verify_audit` proves the chain itself."""
    try:
        age = proof.oldest_unsealed_seconds()
    except DatabaseError as error:
        return Part("audit", False, str(error).splitlines()[0], "See database.")
    seen = f"the oldest event without a seal waits for {age:.0f} s" if age else "all is sealed"
    remedy = "Start beat and a worker (make run does); the events are safe until then."
    return Part("audit", age <= proof.LATE_SECONDS, seen, remedy)


def _vectors() -> Part:
    try:
        status = reindexing.status()
    except DatabaseError as error:
        return Part("vectors", False, str(error).splitlines()[0], "See database.")
    except EmbeddingError as error:
        return Part("vectors", False, error.message, "Put the files of the model back.")
    remedy = "Run: python manage.py reindex"
    if status.active and status.active != status.configured:
        seen = f"the settings name {status.configured}, searches compare those of {status.active}"
        return Part("vectors", False, seen, remedy)
    seen = f"{status.done} of {status.wanted} published passages"
    return Part("vectors", status.done == status.wanted, seen, remedy)


CHECKS: tuple[Callable[[], Part], ...] = (
    _database,
    _migrations,
    _roles,
    _broker,
    _worker,
    _uploads,
    _sweeper,
    _audit,
    _model,
    _vectors,
    _key,
    _parsers,
    _recognition,
    _disk,
    _files,
    _clock,
)
