"""One reader at the doors of a built world: asks, and keeps what came back as text."""

from __future__ import annotations

import datetime
import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar
from unittest import mock

from asgiref.sync import async_to_sync
from django.core.cache import caches
from django.db import connection, transaction
from django.test import Client
from django.utils.http import urlencode

from documents.access import Reader
from qa import originals
from qa.api import sse
from qa.pipeline import Asked
from qa.tests.fake_claude import FakeClaude
from tests.worlds import build, model
from tests.worlds.build import Built
from tests.worlds.model import Sight
from tests.worlds.shapes import Who, World

T = TypeVar("T")
QUESTION = "How many days of annual leave do staff receive each year?"
_MASKS = (
    (re.compile(r'"ms": ?[\d.]+'), '"ms": 0'),
    (re.compile(r'name="csrfmiddlewaretoken" value="\w+"'), ""),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d\d:\d\d(:\d\d)?(\.\d+)?"), "TIME"),
)
_NEW_ID = re.compile(r'"id": ?"[0-9a-f-]{36}"')


@dataclass(frozen=True)
class Told:
    """What a door gave: its status, and its headers and body as text."""

    status: int
    text: str

    def masked(self, *hidden: str) -> tuple[int, str]:
        """Without what two requests for the same thing differ in anyway, and without `hidden`."""
        text = self.text.split("?next=")[0] if self.status == 302 else self.text
        for name in hidden:
            text = text.replace(name, "NAME")
        for pattern, put in _MASKS:
            text = pattern.sub(put, text)
        return self.status, text

    @property
    def whole(self) -> tuple[int, str]:
        """All of it, but for milliseconds, the form's token and the id of a new answer."""
        return self.status, _NEW_ID.sub('"id": "ID"', _MASKS[1][0].sub("", _ms(self.text)))


def _ms(text: str) -> str:
    return _MASKS[0][0].sub(_MASKS[0][1], text)


@dataclass
class Visit:
    """A reader at the doors of a world."""

    world: World
    made: Built
    who: Who
    claude: FakeClaude | None = None
    most: int = 1_000_000  # things that a door asks for one by one
    sights: list[Sight] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"{self.world.seed} {self.who}")  # noqa: S311 - not secret
        self.sights = model.sights(self.world, self.who)
        self.client = Client()
        self.headers: dict[str, str] = {}
        self._is_in = False

    @property
    def as_of(self) -> datetime.date:
        return self.made.day(self.who.day)

    @property
    def may_ask(self) -> bool:
        return model.may_ask(self.world, self.who)

    @property
    def may_ask_for_day(self) -> bool:
        return model.may_ask_for_day(self.world, self.who)

    @property
    def reader(self) -> Reader:
        """The reader that the product makes of the request."""
        user = self.made.users[self.who.person]
        key = self.world.keys.get(self.who.key)
        return Reader.for_user(user, key_labels=key.labels if key else None)

    @property
    def words(self) -> set[str]:
        """Every word that this reader may be told on this day."""
        found: set[str] = set()
        for sight in self.sights:
            found |= sight.words | sight.policy.words
            found |= {sight.version.file_word} if sight.has_file else set()
        return found

    def some(self, among: Iterable[T]) -> list[T]:
        """As many as a door asks for, chosen at random, in order."""
        found = list(among)
        if len(found) <= self.most:
            return found
        return [found[i] for i in sorted(self.random.sample(range(len(found)), self.most))]

    def at(self, day: int) -> Visit:
        """The same reader on another day."""
        return Visit(self.world, self.made, Who(self.who.person, self.who.key, day))

    def sight_of(self, slug: str) -> Sight | None:
        return next((one for one in self.sights if one.policy.slug == slug), None)

    def get(self, path: str, *, with_day: bool = True, **query: str | int) -> Told:
        """A page or an operation of the API, on the reader's day."""
        self._enter()
        if with_day:
            query = {"as_of": self.as_of.isoformat(), **query}
        address = f"{path}?{urlencode(query)}" if query else path
        return _told(self.client.get(address, headers=self.headers))

    def post(self, path: str, body: dict[str, Any], *, with_day: bool = True) -> Told:
        """An operation of the API, on the reader's day."""
        self._enter()
        body = body | ({"as_of": self.as_of.isoformat()} if with_day else {})
        return _told(
            self.client.post(path, body, content_type="application/json", headers=self.headers)
        )

    def stream(self) -> Told:
        """The events of an answer, from the function that the view streams."""
        asked = Asked(self.reader, QUESTION, as_of=self.as_of, n_results=20)

        async def read() -> bytes:
            async with aclosing(sse.stream(asked, heartbeat_seconds=60)) as stream:
                return b"".join([piece async for piece in stream])

        return Told(200, async_to_sync(read)().decode())

    def _enter(self) -> None:
        caches["default"].clear()  # no limit of wrong keys from one address
        if self._is_in:
            return
        self._is_in = True
        if self.who.key:
            self.headers = {"Authorization": f"Bearer {self.made.keys[self.who.key]}"}
        else:  # a session stays when its account is disabled
            self.client.force_login(self.made.users[self.who.person])


def _told(response: Any) -> Told:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    headers = response.headers
    names = ("Content-Disposition", "Location", "Content-Type")
    shown = " ".join(f"{name}: {headers[name]}" for name in names if name in headers)
    text = body.decode("utf-8", "replace")
    if headers.get("Content-Type", "").startswith("application/") and text.startswith("{"):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return Told(response.status_code, f"{shown}\n{text}")


def _draw(data: bytes, number: int, scale: float) -> bytes:
    return b"page %d of %s" % (number, data)


@contextmanager
def surroundings() -> Iterator[None]:
    """No model, no child process that draws, no limit of questions a minute."""
    with (
        build.fake_vectors(),
        mock.patch.object(originals, "render_confined", _draw),
        mock.patch("qa.limits.seconds_to_wait", return_value=0.0),
    ):
        caches["default"].clear()
        loud = logging.getLogger("django.request")
        level = loud.level
        loud.setLevel(logging.CRITICAL)  # thousands of refusals are wanted here
        try:
            yield
        finally:
            loud.setLevel(level)


@contextmanager
def rolled_back() -> Iterator[None]:
    """What is written in here is gone afterwards, and readings may open inside."""
    outer = transaction.atomic()
    outer._from_testcase = True  # type: ignore[attr-defined]  # as TestCase: durable blocks may open
    with outer:
        yield
        transaction.set_rollback(True)
    assert not connection.needs_rollback
