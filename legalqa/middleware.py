"""Headers that every personal answer needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase


class PrivateResponseMiddleware:
    """Forbid browsers and proxies to keep what one person may read.

    Static files are served before this runs and keep their own caching.
    """

    sync_capable = True
    async_capable = True

    def __init__(
        self,
        get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]],
    ) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer, and mark the answer as private."""
        response = self.get_response(request)
        if isinstance(response, HttpResponseBase):
            return _private(response)
        return _private_later(response)


async def _private_later(response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return _private(await response)


def _private(response: HttpResponseBase) -> HttpResponseBase:
    if "Cache-Control" not in response:
        response["Cache-Control"] = "private, no-store"
    return response
