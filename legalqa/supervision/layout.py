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

    The name follows from the data folder, so that processes which were given the addresses
    before a supervisor died find the next one at the same place.

    Raises:
        EmbeddedServicesError: no base folder is short enough.
    """
    digest = hashlib.sha256(os.fsencode(layout.var)).hexdigest()[:12]
    name = f"legalqa-{os.geteuid()}-{digest}"
    bases = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", tempfile.gettempdir()]  # noqa: S108 - only a base; the folder in it is private and its owner checked
    for base in [Path(base) for base in bases if base]:
        sockets = Sockets(base / name)
        longest = max(len(os.fsencode(path)) for path in (sockets.postgres, sockets.redis))
        too_long = longest > MAX_SOCKET_PATH_BYTES
        if not too_long and base.is_dir() and _claim(sockets.folder):
            (sockets.folder / "redis").mkdir(mode=0o700, exist_ok=True)
            sockets.postgres_folder.mkdir(mode=0o700, exist_ok=True)
            return sockets
    raise EmbeddedServicesError(
        f"No folder for sockets: tried {', '.join(b for b in bases if b)}. "
        "Set XDG_RUNTIME_DIR to a short folder that you own."
    )


def _claim(folder: Path) -> bool:
    """Make `folder` ours alone; false when somebody else stands there already."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        folder.chmod(0o700)
    except OSError:
        return False
    return True
