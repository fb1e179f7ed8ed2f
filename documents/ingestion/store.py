"""Original files, kept by the SHA-256 of their bytes.

A file is on disk and flushed before its row is committed, so an accepted upload is never lost;
the stored name is made of the hash alone, so no client-sent name reaches the file system.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def path_of(directory: Path, sha256: str) -> Path:
    """Where the bytes with this hash are kept below `directory`."""
    return directory / sha256[:2] / sha256


def save(directory: Path, data: bytes) -> str:
    """Write `data` durably and return its SHA-256 in hexadecimal.

    Raises:
        OSError: the disk is full or not writable; nothing half-written stays.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    target = path_of(directory, sha256)
    if _holds(target, sha256):
        return sha256
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
        flush_folder(target.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return sha256


def is_sound(directory: Path, sha256: str) -> bool:
    """Whether the file with this hash is there, and holds the bytes that it is named after."""
    return _holds(path_of(directory, sha256), sha256)


def sound_path(directory: Path, sha256: str) -> Path:
    """Where the bytes with this hash are, once they were found to be those bytes.

    Raises:
        FileNotFoundError: they are not there, or not those bytes any more.
    """
    target = path_of(directory, sha256)
    if not _holds(target, sha256):
        raise FileNotFoundError(f"The stored file {sha256} is missing or has been altered.")
    return target


def _holds(target: Path, sha256: str) -> bool:
    """Whether the file is there and sound: an altered one is written anew."""
    if not target.exists():
        return False
    with target.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def flush_folder(folder: Path) -> None:
    """Make the new name itself survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load(directory: Path, sha256: str) -> bytes:
    """Read the bytes with this hash.

    Raises:
        FileNotFoundError: they are not there, or not those bytes any more.
    """
    data = path_of(directory, sha256).read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileNotFoundError(f"The stored file {sha256} has been altered.")
    return data
