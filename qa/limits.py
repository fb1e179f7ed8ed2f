"""How often somebody may do something, and how much at once: counted in the shared cache.

The count is one atomic increment, so parallel requests cannot slip past it. While Redis is
down each process counts for itself: work goes on, and the limit still holds.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from redis.exceptions import RedisError
from rest_framework.settings import api_settings

T = TypeVar("T")
logger = logging.getLogger(__name__)

SHARED, LOCAL = "default", "local"


def seconds_to_wait(scope: str, who: object) -> float:
    """Count one use of `scope` by `who`; 0 when it is allowed, else seconds to the next window.

    The rates are those of the API (`DEFAULT_THROTTLE_RATES`), so that whoever asks on the
    page and by the API has one allowance and not two.
    """
    limit, seconds = parsed_rate(str(api_settings.DEFAULT_THROTTLE_RATES[scope]))
    passed = time.time() % seconds
    return 0.0 if tally(f"throttle:{scope}:{who}", seconds) <= limit else seconds - passed


def tally(name: str, seconds: int) -> int:
    """Count one more of `name` in the window of that length at hand; how many there are now."""
    return _counted(_in_window(name, seconds), seconds)


def tallied(name: str, seconds: int) -> int:
    """How many of `name` were counted in the window at hand."""
    key = _in_window(name, seconds)
    return max(
        _shared_or_local(lambda cache: int(cache.get(key, 0))), int(caches[LOCAL].get(key, 0))
    )


def forget(name: str, seconds: int) -> None:
    """Begin to count `name` anew."""
    key = _in_window(name, seconds)
    _shared_or_local(lambda cache: cache.delete(key))
    caches[LOCAL].delete(key)


def _in_window(name: str, seconds: int) -> str:
    return f"{name}:{int(time.time() // seconds)}"


@dataclass(frozen=True, slots=True)
class Slots:
    """Places that something under way holds until it gives them back, or its time is over."""

    keys: tuple[str, ...]
    token: str

    def give_back(self) -> None:
        """Free the places; those that ran out and were taken by others are left alone."""
        _shared_or_local(self._free)

    def _free(self, cache: BaseCache) -> None:
        for key in self.keys:
            if cache.get(key) == self.token:
                cache.delete(key)


def take_slots(wanted: Sequence[tuple[str, int]], *, seconds: int) -> Slots | None:
    """One place of each kind, or none at all.

    Args:
        wanted: names with how many places there are of each.
        seconds: after which a place is free again by itself, so that a process that dies
            holds none for long.
    """
    token = secrets.token_hex(8)
    taken: list[str] = []
    for name, most in wanted:
        key = next((key for key in _places(name, most) if _take(key, token, seconds)), None)
        if key is None:
            Slots(tuple(taken), token).give_back()
            return None
        taken.append(key)
    return Slots(tuple(taken), token)


def _places(name: str, most: int) -> Iterator[str]:
    return (f"slot:{name}:{place}" for place in range(most))


def _take(key: str, token: str, seconds: int) -> bool:
    return _shared_or_local(lambda cache: bool(cache.add(key, token, timeout=seconds)))


def _shared_or_local(use: Callable[[BaseCache], T]) -> T:
    try:
        return use(caches[SHARED])
    except (RedisError, OSError):
        logger.warning("The cache is down: this process counts for itself.")
        return use(caches[LOCAL])


def parsed_rate(rate: str) -> tuple[int, int]:
    """Requests and seconds of a rate such as `60/min`; the unit's first letter counts."""
    number, _, unit = rate.partition("/")
    return int(number), {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit[0]]


def _counted(key: str, seconds: int) -> int:
    return _shared_or_local(lambda cache: _increment(cache, key, seconds))


def _increment(cache: BaseCache, key: str, seconds: int) -> int:
    cache.add(key, 0, timeout=seconds + 1)
    try:
        return cache.incr(key)
    except ValueError:  # it ran out between the two calls: a new window has begun
        return 1
