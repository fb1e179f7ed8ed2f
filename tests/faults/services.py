"""A broker and workers of a test's own, which it may kill, stop and empty."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import redis
from celery import current_app
from django.conf import settings
from django.db import connection
from kombu import pools

from legalqa.supervision import redis as own_redis
from legalqa.supervision.layout import Layout, Sockets

ROOT = Path(__file__).resolve().parents[2]


class Broker:
    """A Redis that keeps what it holds over a restart, as the product's own does."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lq-"))  # short: it holds a unix socket
        self.layout, self.sockets = Layout(self.folder), Sockets(self.folder)
        self.layout.redis_data.mkdir(parents=True)
        self.sockets.redis.parent.mkdir(parents=True, exist_ok=True)
        self.url = f"redis+socket://{self.sockets.redis}?virtual_host=0"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            own_redis.command(self.layout, self.sockets),
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: own_redis.is_ready(self.sockets), "Redis")

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()

    def remove(self) -> None:
        if self.process.poll() is None:
            self.send(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def waiting(self) -> int:
        return int(self._client().llen("celery"))  # type: ignore[arg-type]  # not the async client

    def empty(self) -> None:
        self._client().flushall()

    def _client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.sockets.redis))


def use_broker(url: str) -> str:
    """Send this process's messages there; returns where they went before."""
    before = str(current_app.conf.broker_url)
    current_app.conf.update(broker_url=url)
    pools.reset()
    for holder, name in ((current_app, "_pool"), (current_app.amqp, "_producer_pool")):
        setattr(holder, name, None)
    return before


class Worker:
    """A Celery worker with one child, on the test database."""

    def __init__(self, broker: Broker, **environment: str) -> None:
        parts = connection.settings_dict
        self._environment = {
            **os.environ,
            "DATABASE_URL": f"postgresql://{parts['USER']}@/{parts['NAME']}?host={parts['HOST']}",
            "REDIS_URL": broker.url,
            "DJANGO_SECRET_KEY": settings.SECRET_KEY,
            "LEGALQA_FILES_DIR": str(settings.FILES_DIR),
            "LEGALQA_MODEL_CACHE_DIR": str(settings.MODEL_CACHE_DIR),
            "LEGALQA_EMBEDDING_BACKEND": "onnx",
            "LEGALQA_EMBED_BATCH_CHUNKS": "4",
            "LEGALQA_SWEEP_AFTER_SECONDS": "2",
            **environment,
        }
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "tests.faults.perilous:app", "worker"]
        command += ["--concurrency", "1", "--loglevel", "CRITICAL", "--without-gossip"]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment,
            start_new_session=True,
            stderr=subprocess.DEVNULL,  # it says at length how its children end
        )

    def children(self) -> list[psutil.Process]:
        """Its processes that do the work, once there are any."""
        found: list[psutil.Process] = []

        def has_started() -> bool:
            assert self.process.poll() is None, "the worker ended by itself"
            found[:] = psutil.Process(self.process.pid).children()
            return bool(found)

        wait_until(has_started, "the worker's child")
        return found

    def kill_children(self) -> None:
        for child in self.children():
            child.kill()

    def kill_parent(self) -> list[psutil.Process]:
        """Leaves the children, which end by themselves; returns them."""
        children = self.children()
        self.process.kill()
        self.process.wait()
        return children

    def stop(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 200) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.1)
