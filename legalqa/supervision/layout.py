"""Where the embedded services keep their data, locks, sockets and logs.

Data, locks and logs stand in `var/` (or `LEGALQA_VAR_DIR`): whoever shares the data shares
the locks, whatever their temporary folder is. Sockets stand in a short folder outside it,
because the path of a unix socket holds 107 bytes and a checkout may lie deep.
"""

import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR_DIR_VARIABLE = "LEGALQA_VAR_DIR"
MAX_SOCKET_PATH_BYTES = 107
POSTGRES_SOCKET_NAME = ".s.PGSQL.5432"
REDIS_SOCKET_NAME = "redis.sock"


class EmbeddedServicesError(Exception):
    """The embedded services cannot start, or did not become ready; the message says why."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders and files of one set of embedded services."""

    var: Path

    @property
    def postgres_data(self) -> Path:
        """The Postgres cluster."""
        return self.var / "pg"

    @property
    def redis_data(self) -> Path:
        """Redis's append-only file and dump."""
        return self.var / "redis"

    @property
    def run(self) -> Path:
        """Locks and the state file."""
        return self.var / "run"

    @property
    def supervisor_lock(self) -> Path:
        """Held exclusively by the supervisor while it lives; holds its process id."""
        return self.run / "supervisor.lock"

    @property
    def users_lock(self) -> Path:
        """Held, shared, by each process that uses the services."""
        return self.run / "users.lock"

    @property
    def state(self) -> Path:
        """Written by the supervisor once both services answer; JSON."""
        return self.run / "services.json"

    @property
    def log(self) -> Path:
        """What the supervisor did."""
        return self.var / "log" / "embedded.log"

    @property
    def postgres_log(self) -> Path:
        """What Postgres says."""
        return self.var / "log" / "postgres.log"

    @property
    def redis_log(self) -> Path:
        """What Redis says."""
        return self.var / "log" / "redis.log"

    def make_folders(self) -> None:
        """Create the folders of ours that are missing; Postgres makes its own."""
        for folder in (self.run, self.redis_data, self.log.parent):
            folder.mkdir(parents=True, exist_ok=True)


def layout_from_environment() -> Layout:
    """The layout under `LEGALQA_VAR_DIR`, by default `var/` beside the code."""
    return Layout(Path(os.environ.get(VAR_DIR_VARIABLE) or ROOT / "var").resolve())


@dataclass(frozen=True, slots=True)
class Sockets:
    """The socket folders of one set of services."""

    folder: Path

    @property
    def postgres_folder(self) -> Path:
        """What clients of Postgres name as their host."""
        return self.folder / "pg"

    @property
    def postgres(self) -> Path:
        """The socket itself."""
        return self.postgres_folder / POSTGRES_SOCKET_NAME

    @property
    def redis(self) -> Path:
        """The socket of Redis."""
        return self.folder / "redis" / REDIS_SOCKET_NAME


def make_sockets(layout: Layout) -> Sockets:
    """Make the socket folder, private to this user, and return its paths.

    The folder is chosen once and its name kept beside the data, so that every process finds
    the same one whatever its environment says, before and after a supervisor died.

    Raises:
        EmbeddedServicesError: no base folder is short enough and ours to write in.
    """
    for folder in [*_kept_folder(layout), *_possible_folders(layout)]:
        sockets = Sockets(folder)
        longest = max(len(os.fsencode(path)) for path in (sockets.postgres, sockets.redis))
        if longest <= MAX_SOCKET_PATH_BYTES and folder.parent.is_dir() and _claim(folder):
            for inner in (sockets.redis.parent, sockets.postgres_folder):
                inner.mkdir(mode=0o700, exist_ok=True)
            _keep_folder(layout, folder)
            return sockets
    bases = ", ".join(str(folder.parent) for folder in _possible_folders(layout))
    raise EmbeddedServicesError(
        f"No folder for sockets: tried in {bases}. "
        "Set XDG_RUNTIME_DIR to a short folder that you own."
    )


def _possible_folders(layout: Layout) -> list[Path]:
    digest = hashlib.sha256(os.fsencode(layout.var)).hexdigest()[:12]
    name = f"legalqa-{os.geteuid()}-{digest}"
    # Only bases: the folder inside is private and its owner is checked.
    bases = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", tempfile.gettempdir()]  # noqa: S108 - as said
    return [Path(base) / name for base in bases if base]


def _kept_folder(layout: Layout) -> list[Path]:
    kept = layout.run / "sockets"
    return [Path(kept.read_text())] if kept.exists() else []


def _keep_folder(layout: Layout, folder: Path) -> None:
    if _kept_folder(layout) != [folder]:
        layout.run.mkdir(parents=True, exist_ok=True)
        aside = layout.run / f"sockets.{os.getpid()}"
        aside.write_text(str(folder))
        aside.replace(layout.run / "sockets")


def _claim(folder: Path) -> bool:
    """Make `folder` ours alone; false when somebody else stands there already."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        # Root's Postgres runs as another user, who must pass; the folders inside are closed.
        folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except OSError:
        return False
    return True
