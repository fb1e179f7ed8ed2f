"""Images of the pages of stored files, drawn in a confined child and kept on disk.

The cache is shared by all readers: whoever asks for an image has been found to be allowed to
see the page, on this request. A file's bytes never change under their hash, so an image is
never stale.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from documents.ingestion import store

logger = logging.getLogger(__name__)

MOST_PIXELS_ACROSS = 1600
MOST_PIXELS_DOWN = 2400
_LARGEST_SCALE = 2.0  # 144 dots an inch: small print is legible, a page takes 100 to 400 KB
_AT_ONCE = threading.BoundedSemaphore(2)  # children that draw for this process
_KEPT_AFTER_SWEEP = 0.8

Draw = Callable[[bytes, int, float], bytes]


def scale_for(width: float, height: float) -> float:
    """How many pixels a point takes, so that no page's image is huge."""
    limits = (MOST_PIXELS_ACROSS / max(width, 1.0), MOST_PIXELS_DOWN / max(height, 1.0))
    return round(min(_LARGEST_SCALE, *limits), 3)


def page_image(
    sha256: str,
    number: int,
    scale: float,
    *,
    files: Path,
    cache: Path,
    cache_bytes: int,
    draw: Draw,
) -> bytes:
    """A page as PNG, from the cache or drawn now.

    Args:
        sha256: of the stored file.
        number: of the page, counted from 1.
        scale: pixels a point, from `scale_for`.
        files: where files are stored.
        cache: where images are kept.
        cache_bytes: how much the cache may hold; the oldest go first.
        draw: draws a page of a file's bytes.

    Raises:
        FileNotFoundError: the file is missing or was altered.
        ParseError: the page cannot be drawn.
    """
    target = cache / sha256[:2] / f"{sha256}-{number}-{scale}.png"
    try:
        image = target.read_bytes()
        os.utime(target)
    except OSError:  # not there, or the cache is out of order
        with _AT_ONCE:
            image = draw(store.load(files, sha256), number, scale)
        _keep(target, image, cache, cache_bytes)
    return image


def _keep(target: Path, image: bytes, cache: Path, cache_bytes: int) -> None:
    """Put an image into the cache; a full disk costs time later, never the answer now."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(image)
        Path(name).replace(target)
        _sweep(cache, cache_bytes)
    except OSError as error:
        logger.warning("A page's image could not be kept: %s", type(error).__name__)


def _sweep(cache: Path, cache_bytes: int) -> None:
    """Remove the images that were not asked for longest, where there are too many."""
    found = [(path, path.stat()) for path in cache.glob("*/*.png")]
    total = sum(stat.st_size for _, stat in found)
    if total <= cache_bytes:
        return
    for path, stat in sorted(found, key=lambda one: one[1].st_mtime):
        path.unlink(missing_ok=True)
        total -= stat.st_size
        if total <= cache_bytes * _KEPT_AFTER_SWEEP:
            return
