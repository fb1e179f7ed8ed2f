"""How often one caller may ask: a fixed window counted in the shared cache.

The count is one atomic increment, so parallel requests cannot slip past it. While Redis is
down each process counts for itself: asking goes on, and the limit still holds.
"""

from __future__ import annotations

import logging
import time

from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

logger = logging.getLogger(__name__)

SHARED, LOCAL = "default", "local"


class AskThrottle(BaseThrottle):
    """At most the rate `ask` (such as `60/min`) per user, whatever their number of keys."""

    scope = "ask"
    _wait_seconds: float = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count this request; False when the window is full."""
        limit, seconds = parsed_rate(str(api_settings.DEFAULT_THROTTLE_RATES[self.scope]))
        window, passed = divmod(time.time(), seconds)
        self._wait_seconds = seconds - passed
        key = f"throttle:{self.scope}:{request.user.pk}:{int(window)}"
        return _counted(key, seconds) <= limit

    def wait(self) -> float:
        """Seconds until the next window."""
        return self._wait_seconds


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
