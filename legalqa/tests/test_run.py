"""`make run` for real: it starts, survives, names what died, and leaves nothing behind."""

import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil
import pytest

from legalqa import embedded, probe, run
from legalqa.supervision.layout import ROOT, Layout

pytestmark = [pytest.mark.services, pytest.mark.timeout(300)]

START_SECONDS = 180.0
# Loading the demonstration is tested on its own; here it would only take time.
WITHOUT_DEMONSTRATION = """
from legalqa import run
run._prepare = lambda: run._manage("migrate", "--no-input", "--verbosity", "0")
raise SystemExit(run.main([]))
"""


@dataclass
class Run:
    """A run under test: its process, its port, and what it has said so far."""

    process: subprocess.Popen[str]
    port: int
    said: list[str]

    def children(self) -> dict[str, psutil.Process]:
        found = {}
        for child in psutil.Process(self.process.pid).children():
            line = " ".join(child.cmdline())
            for name, mark in (("web", "uvicorn"), ("worker", " worker "), ("beat", " beat ")):
                if mark in line:
                    found[name] = child
        return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; a zombie that nobody has reaped yet does not."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="legalqa-test-"))
    var = folder / "var"
    yield var
    environment = {**os.environ, "LEGALQA_VAR_DIR": str(var)}
    subprocess.run(
        [sys.executable, "-m", "legalqa.embedded", "down"], cwd=ROOT, env=environment, check=True
    )
    shutil.rmtree(folder)


def pass_on(output: IO[str], lines: queue.Queue[str]) -> None:
    for line in output:
        lines.put(line)


@contextmanager
def running(var: Path) -> Iterator[Run]:
    """A run in `var` that has said its address."""
    port = free_port()
    models = os.environ.get("LEGALQA_MODEL_CACHE_DIR") or str(ROOT / "var" / "models")
    mine = {"LEGALQA_VAR_DIR": str(var), "LEGALQA_MODEL_CACHE_DIR": models, "PORT": str(port)}
    process = subprocess.Popen(
        [sys.executable, "-c", WITHOUT_DEMONSTRATION],
        cwd=ROOT,
        env={**os.environ, **mine},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    reader = threading.Thread(target=pass_on, args=[process.stdout, lines])
    reader.start()
    found = Run(process, port, [])
    try:
        while not (found.said and found.said[-1].startswith("Logs: ")):
            try:
                found.said.append(lines.get(timeout=START_SECONDS))
            except queue.Empty:
                pytest.fail("".join(found.said) or "it said nothing")
        yield found
    finally:
        process.kill()
        process.wait()
        reader.join(30)
        process.stdout.close()
        while not lines.empty():
            found.said.append(lines.get())


def test_run_answers_survives_its_supervisor_and_stops_in_order(var: Path) -> None:
    layout = Layout(var)
    with running(var) as found:
        assert f"legalqa is at http://127.0.0.1:{found.port}/" in "".join(found.said)
        assert probe.web_answers(found.port)
        children = list(found.children().values())
        assert set(found.children()) == {"web", "worker", "beat"}

        supervisor = embedded.supervisor_pid(layout)
        assert supervisor
        os.kill(supervisor, signal.SIGKILL)
        wait_until(lambda: embedded.supervisor_pid(layout) not in (None, 0, supervisor), 20)

        os.kill(found.process.pid, signal.SIGINT)
        assert found.process.wait(60) == 0
        assert [child for child in children if is_alive(child)] == []
    assert found.said[-1] == "Stopped.\n"


def test_dead_child_is_named_and_stops_the_run(var: Path) -> None:
    with running(var) as found:
        children = found.children()
        children["worker"].kill()
        assert found.process.wait(60) == 1
        assert [name for name, child in children.items() if is_alive(child)] == []
    assert "worker ended with -9; everything was stopped." in "".join(found.said)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of it")
def test_children_do_not_outlive_a_killed_run(var: Path) -> None:
    with running(var) as found:
        children = list(found.children().values())
        os.kill(found.process.pid, signal.SIGKILL)
        wait_until(lambda: not any(is_alive(child) for child in children), 30)


def test_log_ins_of_the_demonstration_are_listed() -> None:
    assert len(run.demonstration_log_ins()) >= 4


@pytest.mark.parametrize("wanted", ["web", "0", "65536", "-1"])
def test_port_that_is_none_is_refused(wanted: str) -> None:
    with pytest.raises(run.RunError, match="1 to 65535"):
        run.choose_port(wanted)


def test_taken_port_is_refused_when_asked_for_and_passed_over_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(run.RunError, match=f"Port {port} is taken"):
            run.choose_port(str(port))
        monkeypatch.setattr(probe, "DEFAULT_PORT", port)
        assert run.choose_port("") > port


def test_beat_is_alive_while_it_writes(tmp_path: Path) -> None:
    assert not probe.beat_is_alive(tmp_path)
    schedule = tmp_path / "celerybeat-schedule.db"
    schedule.touch()
    assert probe.beat_is_alive(tmp_path)
    os.utime(schedule, (time.time() - 3600,) * 2)
    assert not probe.beat_is_alive(tmp_path)


def test_web_is_not_healthy_where_nobody_listens() -> None:
    assert not probe.web_answers(free_port())
