"""A real site for a real browser: own database, the demonstration, uvicorn, Chromium.

Nothing of it is shared with the other tests: pages are driven over HTTP alone.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from legalqa import services
from qa.tests.fake_claude import FakeClaude

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60.0
# The first question of a process loads the model, which takes its time on a busy machine.
PATIENCE_MS = 30_000


@pytest.fixture(scope="session")
def environment() -> Iterator[dict[str, str]]:
    """The environment of a site of its own: a new database with the demonstration in it."""
    services.ensure_running()
    known = services.addresses()
    name = os.environ.get("LEGALQA_TEST_DATABASE", "test_legalqa") + "_browser"
    owner = known.database_owner_url
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)')
        connection.execute(f'create database "{name}"')
    made = {
        **os.environ,
        "DATABASE_URL": known.database_url.replace("/legalqa?", f"/{name}?"),
        "DATABASE_OWNER_URL": owner.replace("/legalqa?", f"/{name}?"),
        "REDIS_URL": known.redis_url,
        "DJANGO_SECRET_KEY": secrets.token_urlsafe(50),
        "LEGALQA_ASK_RATE": "1000/min",
        "ANTHROPIC_API_KEY": "",
    }
    try:
        manage(made, "migrate", "--no-input", "--verbosity", "0")
        manage(made, "demo", "--load", "--verbosity", "0")
        yield made
    finally:
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(f'drop database if exists "{name}" with (force)')


def manage(environment: dict[str, str], *arguments: str) -> None:
    """Run a command of the site."""
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)


@contextmanager
def serving(environment: dict[str, str], log: Path) -> Iterator[str]:
    """uvicorn on a free port; the site's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "legalqa.asgi:application", "--ws", "none"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--timeout-graceful-shutdown", "2"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address, process, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=15)


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(URLError, ConnectionError), urllib.request.urlopen(f"{address}/healthz"):  # noqa: S310 - our own loopback address
            return
        time.sleep(0.2)
    pytest.fail(f"the web process did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def site(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site that answers by quoting."""
    with serving(environment, tmp_path_factory.mktemp("web") / "web.log") as address:
        yield address


@pytest.fixture(scope="session")
def claude() -> Iterator[FakeClaude]:
    """A stand-in for Claude's API."""
    with FakeClaude() as fake:
        yield fake


@pytest.fixture(scope="session")
def claude_site(
    environment: dict[str, str], claude: FakeClaude, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a site that answers through Claude."""
    made = {**environment, "ANTHROPIC_API_KEY": "a-key", "ANTHROPIC_BASE_URL": claude.base_url}
    with serving(made, tmp_path_factory.mktemp("web") / "claude.log") as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, without a browser of its own."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """The system's Chromium, headless."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("needs Chromium: run make test-browser, or name it in CHROMIUM")
    browser = playwright.chromium.launch(executable_path=path, args=FLAGS, headless=True)
    yield browser
    browser.close()


class Visit:
    """A signed-in reader's tab, and all that it complained of or asked elsewhere."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: self._note_request(request.url))

    def _note(self, kind: str, text: str) -> None:
        # A status such as 429 is a message of the browser, not a fault of the page.
        if kind in {"error", "warning"} and "Failed to load resource" not in text:
            self.complaints.append(text)

    def _note_request(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "about:")):
            self.elsewhere.append(url)

    def log_in(self, username: str = "maya") -> None:
        """Log in as one of the demonstration's people."""
        self.page.goto(f"{self.address}/login/")
        self.page.get_by_label("Username").fill(username)
        self.page.get_by_label("Password").fill(f"{username}-demo-only")
        self.page.locator("main button").click()
        self.page.wait_for_url(f"{self.address}/")

    def ask(self, question: str) -> None:
        """Type a question and send it."""
        self.page.get_by_label("Your question").fill(question)
        self.page.locator("#ask-submit").click()


@contextmanager
def visiting(browser: Browser, address: str, **options: object) -> Iterator[Visit]:
    """A tab of its own, closed afterwards; nothing may have been complained of."""
    context: BrowserContext = browser.new_context(**options)  # type: ignore[arg-type]  # Playwright's own options
    context.set_default_timeout(PATIENCE_MS)
    try:
        visit = Visit(context.new_page(), address)
        yield visit
        assert visit.complaints == []
        assert visit.elsewhere == []
    finally:
        context.close()


@pytest.fixture
def reader(chromium: Browser, site: str) -> Iterator[Visit]:
    """Maya, signed in, on the ask page."""
    with visiting(chromium, site) as visit:
        visit.log_in()
        yield visit
