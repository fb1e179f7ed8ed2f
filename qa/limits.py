"""How often somebody may do something: a fixed window counted in the shared cache.

The count is one atomic increment, so parallel requests cannot slip past it. While Redis is
down each process counts for itself: work goes on, and the limit still holds.
"""

from __future__ import annotations

import logging
import time

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from redis.exceptions import RedisError
from rest_framework.settings import api_settings

logger = logging.getLogger(__name__)

SHARED, LOCAL = "default", "local"


def seconds_to_wait(scope: str, who: object) -> float:
    """Count one use of `scope` by `who`; 0 when it is allowed, else seconds to the next window.

    The rates are those of the API (`DEFAULT_THROTTLE_RATES`), so that whoever asks on the
    page and by the API has one allowance and not two.
    """
    limit, seconds = parsed_rate(str(api_settings.DEFAULT_THROTTLE_RATES[scope]))
    window, passed = divmod(time.time(), seconds)
    count = _counted(f"throttle:{scope}:{who}:{int(window)}", seconds)
    return 0.0 if count <= limit else seconds - passed


def parsed_rate(rate: str) -> tuple[int, int]:
    """Requests and seconds of a rate such as `60/min`; the unit's first letter counts."""
    number, _, unit = rate.partition("/")
    return int(number), {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit[0]]


def _counted(key: str, seconds: int) -> int:
    try:
        return _increment(caches[SHARED], key, seconds)
    except (RedisError, OSError):
        logger.warning("The cache is down: this process counts requests for itself.")
        return _increment(caches[LOCAL], key, seconds)


def _increment(cache: BaseCache, key: str, seconds: int) -> int:
    cache.add(key, 0, timeout=seconds + 1)
    try:
        return cache.incr(key)
    except ValueError:  # it ran out between the two calls: a new window has begun
        return 1
