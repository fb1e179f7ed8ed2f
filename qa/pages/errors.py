"""What a reader sees when a page fails."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

RETRY_AFTER_SECONDS = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """503 while the database is away, else 500; the page needs neither database nor session."""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        return HttpResponse(
            render_to_string("503.html"),
            status=503,
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
        )
    return HttpResponse(render_to_string("500.html"), status=500)
