"""How often one caller may ask; the page counts with the same allowance (`qa.limits`)."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from qa import limits


class AskThrottle(BaseThrottle):
    """At most the rate `ask` (such as `60/min`) per user, whatever their number of keys."""

    scope = "ask"
    _wait_seconds: float = 0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count this request; False when the window is full."""
        self._wait_seconds = limits.seconds_to_wait(self.scope, request.user.pk)
        return not self._wait_seconds

    def wait(self) -> float:
        """Seconds until the next window."""
        return self._wait_seconds
