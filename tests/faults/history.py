"""Random acts of several people while a nemesis breaks one part after the other."""

from __future__ import annotations

import datetime
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import django
import psutil
import redis

from legalqa import embedded
from legalqa.supervision.layout import ROOT, layout_from_environment

embedded.ensure_services()
django.setup()

from django.db import InterfaceError, OperationalError, connection  # noqa: E402 - needs settings
from kombu.exceptions import OperationalError as BrokerDown  # noqa: E402 - as above

from documents import access, actions, deletion, lifecycle, tasks  # noqa: E402 - as above
from documents.access import Reader  # noqa: E402 - as above
from documents.errors import DocumentsError  # noqa: E402 - as above
from documents.models import Chunk, PolicyVersion, VersionState  # noqa: E402 - as above
from tests.faults.invariants import violations  # noqa: E402 - as above
from tests.faults.journey import SECTIONS, text_of  # noqa: E402 - as above

EXPECTED = (DocumentsError, OperationalError, InterfaceError, PolicyVersion.DoesNotExist)
REST_SECONDS = 300.0  # on a busy machine; the settings bound how long work rests
SWEEP_SECONDS = 2.0


@dataclass
class History:
    """What people were told, what broke, and what nobody foresaw."""

    received: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)
    acts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


# What people do


def _upload(history: History, dice: random.Random) -> None:
    slug, year = f"policy-{dice.randrange(12)}", dice.randrange(2000, 2024)
    given = actions.Upload(
        data=text_of(f"{slug} {dice.randrange(10**6)}"),
        file_name=f"{slug}.md",
        policy_slug=slug,
        labels=("all-staff",),
        effective_from=datetime.date(year, dice.randrange(1, 13), 1),
        publish=dice.random() < 0.7,
    )
    history.received.add(actions.upload(given, actor=None).version_id)


def _approve(history: History, dice: random.Random) -> None:
    actions.approve_version(_any(dice, VersionState.AWAITING_APPROVAL), reviewer=None)


def _retry(history: History, dice: random.Random) -> None:
    actions.retry_version(_any(dice, VersionState.FAILED), actor=None)


def _withdraw(history: History, dice: random.Random) -> None:
    actions.withdraw_version(_any(dice, VersionState.PUBLISHED), actor=None, note="in error")


def _relabel(history: History, dice: random.Random) -> None:
    slugs = dice.choice([["all-staff"], ["hr"]])
    actions.set_version_labels(_any(dice), slugs, actor=None)


def _delete(history: History, dice: random.Random) -> None:
    pk = _any(dice)
    with access.editing():
        title = PolicyVersion.objects.select_related("policy").get(pk=pk).policy.title
    history.deleted.add(pk)  # before: the answer may be lost, and not the act
    deletion.delete_version(pk, typed=title, actor=None)


def _read(history: History, dice: random.Random) -> None:
    with access.reading_as(Reader.with_labels(["all-staff"])):
        slugs = Counter(Chunk.objects.values_list("version__policy__slug", flat=True))
    history.wrong += [f"{n} passages of {slug}" for slug, n in slugs.items() if n != SECTIONS]


def _any(dice: random.Random, *states: VersionState) -> int:
    with access.editing():
        rows = PolicyVersion.objects.filter(**({"state__in": states} if states else {}))
        ids = list(rows.order_by("pk").values_list("pk", flat=True))
    if not ids:
        raise PolicyVersion.DoesNotExist
    return dice.choice(ids)


ACTS: dict[Callable[[History, random.Random], None], int] = {
    _upload: 30, _approve: 15, _read: 40, _retry: 5, _withdraw: 3, _relabel: 5, _delete: 2,
}  # fmt: skip


def _client(history: History, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same plan each time
    while not history.ended.is_set():
        (act,) = dice.choices(list(ACTS), weights=list(ACTS.values()))
        try:
            act(history, dice)
            history.acts[act.__name__.strip("_")] += 1
        except EXPECTED:
            history.acts["refused"] += 1
        except Exception as error:  # noqa: BLE001 - what nobody foresaw is what is looked for
            history.wrong.append(f"{act.__name__} ended with {error!r}")
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        time.sleep(dice.random() * 0.2)
    connection.close()


def _beat(history: History) -> None:
    while not history.ended.wait(SWEEP_SECONDS):
        _sweep()
    connection.close()


def _sweep() -> None:
    try:
        tasks.sweep()
    except (*EXPECTED, BrokerDown):
        connection.close()


# What breaks


class Nemesis:
    """Kills, stops, restarts and empties parts, one at a time."""

    def __init__(self, history: History, seed: int) -> None:
        self.history, self.dice = history, random.Random(seed)  # noqa: S311 - the same plan
        self.start_worker()

    def start_worker(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "legalqa", "worker", "--concurrency", "2"]
        command += ["--loglevel", "CRITICAL"]
        quiet = subprocess.DEVNULL  # it says at length what is done to it
        self.worker = subprocess.Popen(
            command, cwd=ROOT, stdout=quiet, stderr=quiet, start_new_session=True
        )

    def kill_child(self) -> None:
        for child in psutil.Process(self.worker.pid).children()[:1]:
            child.kill()

    def kill_worker(self) -> None:
        self.worker.kill()
        self.worker.wait()
        self.start_worker()

    def pause_worker(self) -> None:
        """Long enough for the sweeper to hand its work to nobody else but itself again."""
        family = [psutil.Process(self.worker.pid)]
        family += family[0].children()
        for process in family:
            process.suspend()
        self.history.ended.wait(5)
        for process in family:
            process.resume()

    def kill_redis(self) -> None:
        _server("redis").kill()

    def empty_redis(self) -> None:
        redis.Redis.from_url(embedded.ensure_services().redis_client_url).flushall()

    def restart_postgres(self) -> None:
        _server("postgres").send_signal(signal.SIGINT)

    def kill_postgres(self) -> None:
        _server("postgres").kill()

    def run(self) -> None:
        faults = [
            self.kill_child, self.kill_worker, self.pause_worker, self.kill_redis,
            self.empty_redis, self.restart_postgres, self.kill_postgres,
        ]  # fmt: skip
        order: list[Callable[[], None]] = []
        while not self.history.ended.wait(2 + self.dice.random() * 3):
            order = order or self.dice.sample(faults, len(faults))
            fault = order.pop()
            try:
                fault()
                self.history.faults[fault.__name__] += 1
            except (psutil.Error, redis.RedisError, OSError, KeyError, ValueError):
                continue  # it was down already
        self.history.ended.wait()

    def end(self) -> None:
        os.killpg(self.worker.pid, signal.SIGKILL)
        self.worker.wait()


def _server(name: str) -> psutil.Process:
    state = json.loads(layout_from_environment().state.read_text())
    return psutil.Process(state["servers"][name])


# The whole


def run(seconds: float, clients: int, seed: int) -> int:
    """Let clients and nemesis loose for so long; 0 when everything holds afterwards."""
    command = [sys.executable, "manage.py", "migrate", "--no-input", "-v", "0"]
    subprocess.run(command, cwd=ROOT, check=True)
    actions.create_labels(
        {"slug": slug, "name": slug, "role": "audience"} for slug in ("all-staff", "hr")
    )
    connection.close()
    history = History()
    nemesis = Nemesis(history, seed)
    jobs: list[Callable[[], None]] = [nemesis.run, lambda: _beat(history)]
    jobs += [lambda n=n: _client(history, seed * 1000 + n) for n in range(clients)]  # type: ignore[misc]  # bound now
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    history.ended.set()
    for thread in threads:
        thread.join()
    rested = _come_to_rest()
    nemesis.end()
    return _report(history, rested)


def _come_to_rest() -> float:
    """Seconds until nothing moves any more, with a sweeper and a worker that are left alone."""
    embedded.ensure_services()
    began = time.monotonic()
    while time.monotonic() - began < REST_SECONDS:
        _sweep()
        try:
            with access.editing():
                if not PolicyVersion.objects.filter(state__in=lifecycle.MOVING).exists():
                    break
        except (OperationalError, InterfaceError):
            connection.close()
        time.sleep(0.5)
    return time.monotonic() - began


def _report(history: History, rested: float) -> int:
    wrong = history.wrong + violations(received=sorted(history.received - history.deleted))
    wrong = [line for line in wrong if "files without a row" not in line]  # broken off: a day
    with access.editing():
        states = Counter(PolicyVersion.objects.values_list("state", flat=True))
    report = {
        "acts": dict(history.acts),
        "faults": dict(history.faults),
        "states": dict(states),
        "seconds_to_rest": round(rested, 1),
        "wrong": wrong[:20],
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 1 if wrong else 0
