"""A reader that looks all the while, in a process of its own, and writes down what was half.

Every policy in these tests has `SECTIONS` passages, in each of its versions. In one reading the
search may therefore find a passage only of a policy that is whole, and a page shows all of a
policy's sections or is not there.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.contrib.auth import get_user_model
from django.db import DatabaseError, InterfaceError, connection, connections
from django.db.models import Count
from django.test import Client

from documents import access
from documents.access import Reader
from documents.ingestion import analysis
from documents.models import Chunk
from qa.retrieval.search import Query, hybrid
from tests.faults.journey import SECTIONS

_PAUSE_SECONDS = 0.1
_PAGES_EVERY = 10


@contextmanager
def watching(notes: Path) -> Iterator[None]:
    """Poll as somebody who may read everything that `all-staff` may, until the block ends.

    Raises:
        AssertionError: half a version was seen, or the reader broke.
    """
    notes.touch()
    get_user_model().objects.get_or_create(username="watcher")
    connections.close_all()
    child = os.fork()
    if child == 0:
        _watch(notes)
    try:
        yield
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    seen = notes.read_text().splitlines()
    wrong = [line for line in seen if line != "looked"]
    assert not wrong, wrong[:5]
    assert len(seen) > 1, "nobody looked"


def _watch(notes: Path) -> None:
    """Never returns."""
    try:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        client = Client()
        client.force_login(get_user_model().objects.get(username="watcher"))
        rounds = 0
        while True:
            try:
                found = [*_search(), *(_pages(client) if rounds % _PAGES_EVERY == 0 else ())]
            except (DatabaseError, InterfaceError):
                connection.close()
                continue
            with notes.open("a") as file:
                file.write("\n".join(["looked", *found]) + "\n")
            rounds += 1
            time.sleep(_PAUSE_SECONDS)
    except BaseException as error:  # noqa: BLE001 - this process must not go on as its parent
        with notes.open("a") as file:
            file.write(f"the reader broke: {error!r}\n")
    finally:
        os._exit(1)


def _search() -> Iterator[str]:
    """Passages by the search whose policy is not whole in the same reading."""
    terms = analysis.query_terms("visits a year", "en")
    with access.reading_as(Reader.with_labels(["all-staff"])) as reading:
        result = hybrid(reading, Query("visits a year", "en", terms, None), limit=20)
        found = {passage.policy for passage in result.passages}
        counted = dict(
            Chunk.objects.values_list("version__policy__slug").annotate(n=Count("pk")).order_by()
        )
    for slug, passages in counted.items():
        if passages != SECTIONS:
            yield f"{passages} of {SECTIONS} passages of {slug}"
    yield from (f"found {slug}, which is not readable" for slug in found - counted.keys())


def _pages(client: Client) -> Iterator[str]:
    """The page of the policy that was published last, when it is not whole."""
    with access.reading_as(Reader.with_labels(["all-staff"])):
        slugs = Chunk.objects.order_by("-pk").values_list("version__policy__slug", flat=True)
        last = slugs.first()
    if last is None:
        return
    response = client.get(f"/policies/{last}/")
    if response.status_code == 404:
        return
    shown = response.content.decode().count(" visits a year.")
    if shown != SECTIONS:
        yield f"the page of {last} shows {shown} of {SECTIONS} sections"
