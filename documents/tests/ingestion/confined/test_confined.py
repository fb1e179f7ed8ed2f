"""What a parser can do once a file has taken it over: nothing (THREATS T-052)."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from documents.errors import ParseError
from documents.ingestion.confined import run as parent
from documents.ingestion.confined import seccomp, wire
from documents.ingestion.confined.confine import Walls
from documents.ingestion.confined.limits import Limits, Usage
from documents.ingestion.confined.run import parse_confined
from documents.ingestion.confined.walls import missing_walls
from documents.ingestion.parsers import parse
from documents.records import ParsedDocument
from documents.tests import factories
from documents.tests.ingestion.confined.hostile_parsers import ATTEMPTS

ROOT = Path(__file__).resolve().parents[4]
HOSTILE = "documents.tests.ingestion.confined.hostile_parsers:"
FEW = Limits(cpu_seconds=2, memory_mb=200, output_mb=1)
REFUSED = (
    "PermissionError",
    "BlockingIOError",
    "OSError",
    "ValueError",
    "RuntimeError",
    "gaierror",
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")


def run(name: str, data: bytes = b"x", limits: Limits = FEW, **options: Any) -> ParsedDocument:
    options = {"limits": limits, **options}
    return parse_confined(data, file_name="a.pdf", entry=HOSTILE + name, **options)


def refusal(name: str, data: bytes = b"x", **options: Any) -> ParseError:
    with pytest.raises(ParseError) as caught:
        run(name, data, **options)
    return caught.value


Children = Callable[[], set[str]]


def _children() -> set[str]:
    """Processes of this one, zombies included."""
    tasks = Path("/proc/self/task").iterdir()
    return {pid for task in tasks for pid in (task / "children").read_text().split()}


@pytest.fixture
def children() -> Children:
    """What the test left running; what other tests of this process had begun stays out."""
    earlier = _children()
    return lambda: _children() - earlier


needs_all_walls = pytest.mark.skipif(
    bool(missing_walls()), reason=f"this kernel has {' and '.join(missing_walls())}"
)
needs_filter = pytest.mark.skipif(
    not seccomp.is_known_machine(), reason="no filter of system calls for this machine"
)


# --- nothing but computing -----------------------------------------------------------------


def tried(*names: str, **options: Any) -> dict[str, str]:
    """What came of each attempt, in one child."""
    lines = run("attempt", "\n".join(names).encode(), **options).text.split("\n")
    return dict(line.split(": ", 1) for line in lines)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return tried(*ATTEMPTS)


@needs_all_walls
@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_parser_that_was_taken_over_can_do_nothing(name: str, outcomes: dict[str, str]) -> None:
    assert outcomes[name].startswith(REFUSED), outcomes[name]
    assert "done" not in outcomes[name]


@needs_filter
def test_without_landlock_no_file_at_all_is_opened() -> None:
    names = ("tcp", "unix socket", "read passwd", "write here", "exec")

    found = tried(*names, walls=Walls(landlock=False))

    assert all(found[name].startswith("PermissionError") for name in names), found


@pytest.mark.skipif(any("Landlock" in wall for wall in missing_walls()), reason="no Landlock")
def test_without_a_filter_landlock_still_holds() -> None:
    names = ("tcp", "read passwd", "write here", "exec", "limits")

    found = tried(*names, walls=Walls(seccomp=False))

    assert all(found[name].startswith(REFUSED) for name in names), found


@pytest.mark.django_db(transaction=True)
@needs_all_walls
def test_no_account_can_be_selected() -> None:
    factories.user("ann")
    parts = connection.settings_dict
    address = f"postgresql://{parts['USER']}@/{parts['NAME']}?host={parts['HOST']}"
    with psycopg.connect(address) as allowed:
        rows = allowed.execute("select username from auth_user").fetchall()

    said = run("select_accounts", address.encode()).text

    assert ("ann",) in rows
    assert said.startswith("OperationalError")
    assert "ann" not in said


def test_no_secret_of_this_process_reaches_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret-of-this-test")
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret@/x")

    assert tried("environment") == {"environment": "OSError: the environment is empty"}


def test_no_open_file_of_this_process_reaches_the_child(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as opened:
        os.set_inheritable(opened.fileno(), True)
        assert tried("descriptors") == {"descriptors": "OSError: nothing else is open"}


@needs_all_walls
def test_an_honest_parser_may_import_what_it_needs_when_it_has_begun() -> None:
    assert run("import_late").text == "wave b357"


def test_root_is_given_up() -> None:
    code = """
    import os
    from pathlib import Path
    from documents.ingestion.confined.confine import give_up_root
    give_up_root([Path(p) for p in os.environ["FOLDERS"].split(":")])
    lines = dict(x.split(":", 1) for x in Path("/proc/self/status").read_text().splitlines())
    print(os.geteuid(), int(lines["CapEff"], 16), int(lines["CapPrm"], 16))
    """

    def after(folders: str) -> list[int]:
        environment = {"FOLDERS": folders, "PYTHONPATH": str(ROOT)}
        run = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()]

    public = after("/usr")
    private = after("/proc/1/root")
    assert public[1:] == private[1:] == [0, 0]
    assert public[0] != 0


# --- limits --------------------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_a_parser_that_never_ends_is_ended_and_the_reason_says_what_to_do() -> None:
    error = refusal("spin", limits=Limits(cpu_seconds=1))

    assert error.code == "refused"
    assert error.message.startswith("The file took longer than 1 seconds to read. Split it")


def test_ignoring_the_signal_helps_nothing() -> None:
    assert (
        "longer than 1 seconds" in refusal("ignore_signals", limits=Limits(cpu_seconds=1)).message
    )


def test_a_parser_that_waits_is_ended_by_the_parent(
    monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    monkeypatch.setattr(Limits, "wall_seconds", 0.8)
    assert "longer than 2 seconds" in refusal("sleep").message
    assert not children()


def test_a_parser_that_swells_is_refused_for_its_memory() -> None:
    error = refusal("swell")

    assert error.message.startswith("Reading the file took more than 200 MB of memory. Split it")


def test_the_memory_is_what_was_allowed_beyond_the_interpreter_itself() -> None:
    usages: list[Usage] = []

    megabytes = int(run("swell_quietly", observe=usages.append).text.split()[0])

    assert 100 <= megabytes <= 200
    assert usages[0].peak_memory_bytes < 300 * 1024 * 1024


def test_more_text_than_allowed_is_refused() -> None:
    assert refusal("too_much_text").message.startswith("The file unpacks to more than 1 MB.")
    assert len(run("too_much_text", limits=Limits(output_mb=8)).text) == 3 * 1024 * 1024


@pytest.mark.timeout(60)
def test_a_flood_is_cut_off_early(children: Children) -> None:
    assert refusal("flood").code == "refused"
    assert not children()


# --- breaking ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["crash", "abort", "leave", "recurse", "fail", "refuse_oddly"])
def test_a_parser_that_breaks_is_a_clear_refusal(name: str, children: Children) -> None:
    error = refusal(name)

    assert error.code == "refused"
    assert error.message.startswith("The file could not be read: it is damaged")
    assert not children()


def test_a_child_that_cannot_start_does_not_blame_the_file() -> None:
    with pytest.raises(parent.CannotStartError):
        parse_confined(b"x", file_name="x", entry="documents.no_such_module:parse")


def test_the_log_says_where_a_parser_failed_and_nothing_of_the_file(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        refusal("fail")

    assert "KeyError at hostile_parsers.py:" in caplog.text
    assert "secret" not in caplog.text


def test_a_refusal_of_the_parser_comes_back_as_it_was() -> None:
    error = refusal("refuse")

    assert (error.code, error.pages) == ("encrypted", (2, 7))
    assert error.message == "Remove the password and upload it again."


def test_what_a_library_prints_does_not_get_between_the_messages() -> None:
    assert run("print_much").text == "printed"


def test_characters_that_nothing_can_hold_are_marked_and_named() -> None:
    parsed = run("broken_characters")

    assert parsed.text == "one\ufffdtwo\ufffdthree"
    assert [notice.code for notice in parsed.warnings] == ["broken_characters"]


HEAD: dict[str, object] = {
    "kind": "document", "media_type": "text/plain", "title": None, "language": None,
    "encoding": None, "metadata": {}, "warnings": [],
}  # fmt: skip
LIES = {
    "nothing": b"",
    "half a length": b"\0\0",
    "a length alone": b"\0\0\0\x10",
    "a length beyond the limit": b"\xff\xff\xff\xff",
    "no JSON": b"\0\0\0\x04oops",
    "no object": b"\0\0\0\x02[]",
    "deep JSON": (200_000).to_bytes(4, "big") + b"[" * 200_000,
    "a pickle": b"\0\0\0\x05\x80\x04N.\0",
    "end at once": wire.pack({"kind": "end"}),
    "unknown": wire.pack({"kind": "shutdown"}),
    "head alone": wire.pack(HEAD),
    "head twice": wire.pack(HEAD) * 2,
    "program as type": wire.pack({**HEAD, "media_type": "application/x-sh"})
    + wire.pack({"kind": "end"}),
    "odd progress": wire.pack({"kind": "progress", "done": 5, "total": 1}),
    "odd code": wire.pack({"kind": "refused", "code": "root", "message": "hello"}),
}


@pytest.mark.parametrize("name", LIES)
def test_a_child_that_lies_is_refused(name: str) -> None:
    assert refusal("lie", LIES[name]).code == "refused"


# --- the parent ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.md", "# Leave\n\nStaff receive 27 days.\n"), ("b.txt", "第一條\n本法自公布日施行。")],
)
def test_the_child_gives_what_the_parser_gives(name: str, text: str) -> None:
    data = text.encode()

    assert parse_confined(data, file_name=name) == parse(data, file_name=name)


def test_fifty_megabytes_go_through_and_the_name_with_them() -> None:
    data = b"0123456789" * 5_000_000

    assert run("count", data).text == "50000000 bytes of a.pdf"


def test_a_child_that_does_not_listen_is_no_broken_pipe() -> None:
    assert refusal("leave", b"x" * 50_000_000).code == "refused"


def test_progress_is_said_as_it_comes() -> None:
    said: list[tuple[int, int]] = []

    run("count", progress=lambda done, total: said.append((done, total)))

    assert said == [(1, 3), (2, 3), (3, 3)]


def test_a_silent_child_still_shows_that_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_HEARTBEAT_SECONDS", 0.1)
    said: list[tuple[int, int]] = []

    run("count", progress=lambda done, total: said.append((done, total)))

    assert len(said) > 3


def test_an_exception_of_the_caller_ends_the_child(children: Children) -> None:
    class Stop(BaseException):
        pass

    def stop(done: int, total: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        run("count", progress=stop)
    assert not children()


def test_several_threads_read_several_files_at_once(children: Children) -> None:
    def one(number: int) -> str:
        return run("count", b"x" * number).text

    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(one, range(1, 9)))

    assert texts == [f"{number} bytes of a.pdf" for number in range(1, 9)]
    assert not children()


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    run("count")
    refusal("crash")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_never_outlives_its_parent(how: signal.Signals) -> None:
    code = f"""
    from documents.ingestion.confined.run import parse_confined
    parse_confined(b"x", file_name="x", entry="{HOSTILE}sleep", progress=lambda *a: None)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    child = _until(lambda: tasks.read_text().split())[0]
    _until(lambda: _is_shut_in(child))

    process.send_signal(how)
    process.wait()

    _until(lambda: not _is_running(child))


def _is_running(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _is_shut_in(pid: str) -> bool:
    return "Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text() or bool(missing_walls())


def _until(condition: Any, seconds: float = 10.0) -> Any:
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
    return result
