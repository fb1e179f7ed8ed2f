"""Everything on one machine: `python -m legalqa.run`, which is what `make run` calls.

Starts the embedded services where no others are named, migrates, loads the demonstration,
starts web, worker and beat as children and stops them all together, on Ctrl-C or when one of
them ends by itself. `--reload` restarts the web process when code changes; `--stop` stops a
run from another terminal.
"""

import argparse
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import yaml

from legalqa import embedded, env, probe, processes, services
from legalqa.supervision.layout import ROOT, EmbeddedServicesError, layout_from_environment

_WEB_START_SECONDS = 120.0
_TICK_SECONDS = 0.5
_SERVICES_CHECK_SECONDS = 3.0
_PORTS_TRIED = 20
_ALL_INTERFACES = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound to


class RunError(Exception):
    """The run cannot go on; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m legalqa.run", description=__doc__)
    parser.add_argument("--reload", action="store_true", help="restart web when code changes")
    parser.add_argument("--stop", action="store_true", help="stop the run of this checkout")
    parsed = parser.parse_args(arguments)
    if parsed.stop:
        return _stop_runs()
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell without job control starts what it puts in the background with SIGINT ignored.
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        _run(reload=parsed.reload)
    except (RunError, EmbeddedServicesError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        _say("Stopped.")
    return 0


def _run(*, reload: bool) -> None:
    port = choose_port(env.text("PORT", default=""))
    _start_services()
    with _lock("prepare.lock"):
        _prepare()
    with _beat_is_ours() as with_beat, _children(port, reload=reload, with_beat=with_beat) as all_:
        _wait_for_web(port, all_)
        _announce(port, all_)
        _watch(all_)


def choose_port(wanted: str) -> int:
    """The port to listen on: the one asked for, else 8000 or the next free one.

    Raises:
        RunError: `wanted` is not a port or is taken, or none of the next ones is free.
    """
    if wanted:
        if not wanted.isdigit() or not 0 < int(wanted) < 65536:
            raise RunError(f"PORT is {wanted!r}, but must be a number from 1 to 65535.")
        if not _is_free(int(wanted)):
            raise RunError(f"Port {wanted} is taken. Choose another: make run PORT=8080")
        return int(wanted)
    ports = range(probe.DEFAULT_PORT, probe.DEFAULT_PORT + _PORTS_TRIED)
    for port in ports:
        if _is_free(port):
            return port
    raise RunError(f"Ports {ports[0]} to {ports[-1]} are taken. Choose one: make run PORT=9000")


def _is_free(port: int) -> bool:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((processes.listening_host(), port))
        except OSError:
            return False
    return True


def _start_services() -> None:
    if services.is_embedded():
        _say("Starting Postgres and Redis …")
        for note in embedded.ensure_services().notes:
            _say(f"  {note}")


def _prepare() -> None:
    _say("Preparing the database …")
    _manage("migrate", "--no-input", "--verbosity", "0")
    if services.is_embedded():
        _say("Loading the demonstration policies …")
        _manage("demo", "--load")
    # Users with well-known passwords have no place in a database that was named to us.


def _manage(*arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "manage.py", *arguments], cwd=ROOT, check=False
    )
    if done.returncode != 0:
        raise RunError(f"`manage.py {arguments[0]}` failed; see above.")


@contextmanager
def _lock(name: str) -> Iterator[None]:
    """Hold a lock of this data folder, so that two runs prepare one after the other."""
    layout = layout_from_environment()
    layout.make_folders()
    with (layout.run / name).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _beat_is_ours() -> Iterator[bool]:
    """Whether this run has the periodic tasks: only one run of a data folder may."""
    with (layout_from_environment().run / "beat.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextmanager
def _children(port: int, *, reload: bool, with_beat: bool) -> Iterator[list[processes.Child]]:
    commands = {
        "web": processes.web_command(port, reload=reload),
        "worker": processes.worker_command(),
    }
    if with_beat:
        commands["beat"] = processes.beat_command()
    children: list[processes.Child] = []
    try:
        for name, command in commands.items():
            children.append(processes.start(name, command))
        yield children
    finally:
        processes.stop(children)


def _wait_for_web(port: int, children: Sequence[processes.Child]) -> None:
    _say("Starting web, worker and beat …")
    deadline = time.monotonic() + _WEB_START_SECONDS
    while not probe.web_answers(port):
        _raise_for_dead(children)
        if time.monotonic() > deadline:
            raise RunError(f"The web process does not answer; see {children[0].log}")
        time.sleep(0.1)


def _watch(children: Sequence[processes.Child]) -> None:
    """Return when a child ended; keep the embedded services up meanwhile."""
    checked = time.monotonic()
    while True:
        _raise_for_dead(children)
        if time.monotonic() - checked > _SERVICES_CHECK_SECONDS and services.is_embedded():
            embedded.ensure_services()
            checked = time.monotonic()
        time.sleep(_TICK_SECONDS)


def _raise_for_dead(children: Sequence[processes.Child]) -> None:
    for child in children:
        if child.process.poll() is not None:
            last = child.log.read_text(errors="replace").splitlines()[-5:]
            raise RunError(
                f"{child.name} ended with {child.process.returncode}; everything was stopped. "
                f"Its last words ({child.log}):\n" + "\n".join(last)
            )


def _announce(port: int, children: Sequence[processes.Child]) -> None:
    host = processes.listening_host()
    host = "127.0.0.1" if host in _ALL_INTERFACES else host
    _say(f"\nlegalqa is at http://{host}:{port}/  (Ctrl-C stops it)")
    if services.is_embedded():
        _say("Demonstration log-ins:")
        for line in demonstration_log_ins():
            _say(f"  {line}")
    _say(f"Logs: {children[0].log.parent}\n")


def demonstration_log_ins() -> list[str]:
    """One line a demonstration user: name, password, and what they may read."""
    manifest = yaml.safe_load((ROOT / "demo" / "manifest.yaml").read_text(encoding="utf-8"))
    return [
        f"{user['username']:<8} {user['password_hint']:<18} {', '.join(user['labels'])}"
        for user in manifest["users"]
    ]


def _stop_runs() -> int:
    """Stop the runs of this checkout, then the embedded services."""
    runs = [process for process in psutil.process_iter() if _is_run(process)]
    for process in runs:
        process.terminate()
    psutil.wait_procs(runs, timeout=processes.STOP_SECONDS + 5)
    stopped = embedded.stop_services()
    _say("Stopped." if runs or stopped else "Nothing was running.")
    return 0


def _is_run(process: psutil.Process) -> bool:
    try:
        line = process.cmdline()
        mine = "legalqa.run" in line and "--stop" not in line and process.pid != os.getpid()
        return mine and Path(process.cwd()) == ROOT
    except psutil.Error:
        return False


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
