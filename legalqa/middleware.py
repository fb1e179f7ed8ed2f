"""What holds for every request: where it came from is on record, its answer is private."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponseBase

from documents import audit
from legalqa.origin import client_address


class _Middleware(ABC):
    """What serves synchronous and asynchronous requests alike."""

    sync_capable = True
    async_capable = True

    def __init__(
        self,
        get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]],
    ) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    @abstractmethod
    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer a request."""


class OriginMiddleware(_Middleware):
    """Say where a request came from, for whatever is audited on its behalf.

    A stream is audited while it is sent, after this has returned: under ASGI each request has a
    task of its own, for the whole of which the address stays said.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answer, with the address of the client at hand."""
        before = audit.origin()
        audit.set_origin(client_address(request.META, settings.TRUSTED_PROXIES))
        response = self.get_response(request)
        if not isinstance(request, ASGIRequest):
            audit.set_origin(before)  # the thread goes on to other things
        return response  # a response, or one to wait for in this same task


class PrivateResponseMiddleware(_Middleware):
    """Forbid browsers and proxies to keep what one person may read.

    Static files are served before this runs and keep their own caching.
    """

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
