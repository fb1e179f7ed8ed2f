"""Running Postgres as an unprivileged user where we are root.

Postgres refuses to run as root, so there it runs as `nobody`. That user may not be able to
pass through the folders above its data and its programs (a clone under a 0700 folder, a home
of root). What is missing is granted for passing through only, to that user alone where the
file system has access control lists, else to others; ADR 0003 has the alternatives.
"""

import ctypes
import errno
import os
import pwd
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from legalqa.supervision.layout import EmbeddedServicesError

UNPRIVILEGED_USER = "nobody"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ACL_ATTRIBUTE = "system.posix_acl_access"
_ACL_VERSION = 2
_NO_ID = 0xFFFFFFFF
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_PASS_THROUGH = 0o1


@dataclass(frozen=True, slots=True)
class RunAs:
    """The user that a child becomes."""

    name: str
    uid: int
    gid: int


def unprivileged_user(data: Path) -> RunAs | None:
    """Whom Postgres runs as: ourselves (None), but where we are root, somebody else.

    That is the owner of the cluster at `data` if an ordinary user made it, else `nobody`.

    Raises:
        EmbeddedServicesError: we are root and the system has no user `nobody`.
    """
    if os.geteuid() != 0:
        return None
    if data.exists() and (found := data.stat()).st_uid != 0:
        return RunAs(f"number {found.st_uid}", found.st_uid, found.st_gid)
    try:
        entry = pwd.getpwnam(UNPRIVILEGED_USER)
    except KeyError as error:
        raise EmbeddedServicesError(
            f"Postgres does not run as root and this system has no user {UNPRIVILEGED_USER!r}. "
            "Run legalqa as an ordinary user, or set DATABASE_URL to a Postgres of yours."
        ) from error
    return RunAs(entry.pw_name, entry.pw_uid, entry.pw_gid)


def die_with_parent(signal_number: int) -> Callable[[], None] | None:
    """What a child runs before its program so that it is signalled when its parent dies.

    Linux only (None elsewhere: there the next supervisor finds and stops what was left).
    The setting is lost when a process changes its user, so it must be made after that, which
    is when `subprocess` calls `preexec_fn`.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return arrange


def adopt_orphans() -> None:
    """Have the kernel hand grandchildren that lose their parent to this process (Linux).

    Without it a Postgres backend that outlives a killed postmaster becomes a zombie of
    process 1, which blocks the restart where that process reaps slowly.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def open_for(user: RunAs, path: Path) -> list[str]:
    """Let `user` pass through every folder above `path`; return what was changed, in words.

    Raises:
        EmbeddedServicesError: a folder could not be opened.
    """
    notes = []
    for folder in reversed(path.parents):
        if _may(user, folder, os.X_OK):
            continue
        _grant_pass_through(user, folder)
        notes.append(f"Allowed user {user.name} to pass through (not list) {folder}.")
        if not _may(user, folder, os.X_OK):
            raise EmbeddedServicesError(
                f"Postgres runs as {user.name} here, which may not pass through {folder}. "
                f"Allow it with: chmod o+x {folder}"
            )
    return notes


def make_readable(user: RunAs, tree: Path) -> list[str]:
    """Let others read and run what is in `tree` when `user` may not.

    The tree holds published software alone, so nothing becomes known by it.
    """
    paths = [Path(folder, name) for folder, _, files in os.walk(tree) for name in ["", *files]]
    modes = {path: path.stat().st_mode for path in paths}
    closed = {
        path: mode for path, mode in modes.items() if _missing(mode) and not _owns(user, path)
    }
    for path, mode in closed.items():
        path.chmod(mode | _missing(mode))
    return [f"Let all users read the Postgres programs in {tree}."] if closed else []


def _missing(mode: int) -> int:
    """The bits that others lack to read a file, and to run it where its owner may."""
    return (0o004 | (0o001 if mode & 0o100 else 0)) & ~mode


def _owns(user: RunAs, path: Path) -> bool:
    return path.stat().st_uid == user.uid


def _may(user: RunAs, path: Path, wanted: int) -> bool:
    """Whether `user` has this access, asked of the kernel in a child that became the user."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user.gid)
            os.setuid(user.uid)
            os._exit(0 if os.access(path, wanted) else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _grant_pass_through(user: RunAs, folder: Path) -> None:
    try:
        _grant_by_access_list(user, folder)
    except (OSError, AttributeError):  # no access lists on this file system or platform
        folder.chmod(folder.stat().st_mode | _PASS_THROUGH)


def _grant_by_access_list(user: RunAs, folder: Path) -> None:
    entries = _access_list(folder)
    group_class = [_USER, _GROUP_OBJ, _GROUP]
    entries = [e for e in entries if e[0] != _MASK and e[::2] != (_USER, user.uid)]
    entries.append((_USER, _PASS_THROUGH, user.uid))
    mask = 0
    for tag, permission, _id in entries:
        mask |= permission if tag in group_class else 0
    entries.append((_MASK, mask, _NO_ID))
    packed = b"".join(struct.pack("<HHI", *entry) for entry in sorted(entries, key=_acl_order))
    os.setxattr(folder, _ACL_ATTRIBUTE, struct.pack("<I", _ACL_VERSION) + packed)


def _acl_order(entry: tuple[int, int, int]) -> tuple[int, int]:
    return entry[0], entry[2]


def _access_list(folder: Path) -> list[tuple[int, int, int]]:
    """The folder's access list as (tag, permission, id), made from its mode when it has none."""
    try:
        packed = os.getxattr(folder, _ACL_ATTRIBUTE)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        mode = folder.stat().st_mode
        return [
            (_USER_OBJ, mode >> 6 & 7, _NO_ID),
            (_GROUP_OBJ, mode >> 3 & 7, _NO_ID),
            (_OTHER, mode & 7, _NO_ID),
        ]
    return list(struct.iter_unpack("<HHI", packed[4:]))
