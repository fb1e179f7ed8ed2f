"""Bad input and missing parts, by command, API and page: a clear message, and nothing lost.

Each message says what to do; commands exit with 1, the API answers with a problem document.
"""

from __future__ import annotations

import html
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import redis
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from documents import access, actions, tasks
from documents.errors import ParseError
from documents.ingestion import store
from documents.ingestion.confined import run
from documents.ingestion.confined.limits import Usage
from documents.management.waiting import SUFFIXES
from documents.models import Chunk, Finding, PolicyVersion, VersionDetail, VersionState
from documents.tests import factories
from legalqa import services
from qa.models import QuestionRecord
from qa.tests.api.support import LEAVE, QUESTION, Api, signed_in, steward, with_key

ROOT = Path(__file__).resolve().parents[1]
PLAIN = "Visitors sign in at the desk.\n\nEach visitor gets a badge for one day.\n"
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(512, b"\0")
LOCKED = OLD_OFFICE + "EncryptedPackage".encode("utf-16-le").ljust(128, b"\0")
OLD_WORD = OLD_OFFICE + "WordDocument".encode("utf-16-le").ljust(128, b"\0")
WORDML = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LONG_QUESTION = "a" * 2_000
BINARY = bytes(range(256)) * 16
PROGRAM = b"\x7fELF\x02\x01\x01" + b"\0" * 64
SENTENCE = "The archive holds one more copy of every record that it was given. "
FIVE_MEGABYTES = (SENTENCE * 78_300).strip()
UNHEARD = 13  # a Redis database of these tests' own
NOWHERE = {
    "DATABASE_URL": "postgresql://legalqa_app@/legalqa?host=/nowhere",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "DJANGO_SECRET_KEY": "a test's own secret, long enough for the settings to take it",
}


def archive(**members: bytes | str) -> bytes:
    """A zip archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return stream.getvalue()


def word_file(prolog: str = "", text: str = PLAIN) -> bytes:
    """A Word document of one paragraph."""
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    return archive(**{"word/document.xml": f"{prolog}<w:document {WORDML}>{body}</w:document>"})


def bomb() -> bytes:
    """A small archive with much text."""
    return word_file(text="a" * 120_000_000)


def _fails(*arguments: object) -> tuple[str, str]:
    """Run a command in this process that must exit with 1: what it printed, and its error."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*map(str, arguments), stdout=out)
    assert caught.value.returncode == 1
    return out.getvalue(), str(caught.value)


def _manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run manage.py as a person would."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "ANTHROPIC_API_KEY": "", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    return done


def _file(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def owner() -> Api:
    factories.label()
    return with_key(steward("owner", "People"), "ingest", "review", "ask")


def _upload(owner: Api, name: str, content: bytes, **fields: str) -> Any:
    file = SimpleUploadedFile(name, content)
    form = {"file": file, "labels": "all-staff", **fields}
    return owner.client.post("/api/v1/ingest", form, headers=owner.headers)


def _work_on(public_id: str) -> int:
    """What a worker does with a version that was received."""
    with access.editing():
        version_id = PolicyVersion.objects.get(public_id=public_id).pk
    tasks.ingest_version(version_id)
    return version_id


# --- files ---------------------------------------------------------------------------------

UNREADABLE = [
    ("empty.md", b"", "is empty. Upload a file that holds text."),
    ("blank.md", b" \n\t \n", "is empty. Upload a file that holds text."),
    ("binary.md", BINARY, "The file holds binary data, not text."),
    ("program.txt", PROGRAM, "Upload a PDF, Word (.docx), HTML, Markdown or plain text file."),
    ("locked.docx", LOCKED, "Remove the password and upload it again."),
    ("old.doc", OLD_WORD, "Save it as .docx, then upload that."),
    ("cut.docx", word_file()[:-60], "Save it again, then upload it."),
    ("book.xlsx", archive(**{"xl/workbook.xml": "<x/>"}), "Save the text as .docx or PDF"),
    ("leave.pdf.exe", PLAIN.encode(), "Give a document its right name, then upload it."),
]
# The worker finds these, in the child: the door takes them.
BROKEN = [
    ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "PDF"),
    ("bomb.docx", bomb(), "unpacks to more than is allowed"),
    ("entity.docx", word_file('<!DOCTYPE x [<!ENTITY e "e">]>'), "document type"),
]


@pytest.mark.parametrize(("name", "content", "remedy"), UNREADABLE)
def test_chunk_says_why_a_file_gives_no_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, remedy: str
) -> None:
    path = _file(tmp_path, name, content)

    with pytest.raises(SystemExit) as caught:
        call_command("chunk", str(path), "--json")

    report = json.loads(capsys.readouterr().out)
    assert caught.value.code == 1
    assert report["state"] in ("empty", "encrypted", "refused")
    assert (report["text"], report["sections"], report["chunks"]) == ("", [], [])
    assert remedy in report["warnings"][0]["message"]


def test_chunk_of_an_empty_file_exits_with_1_without_any_service(tmp_path: Path) -> None:
    done = _manage("chunk", str(_file(tmp_path, "empty.md", b"")), **NOWHERE)

    assert done.returncode == 1
    assert "The file is empty. Upload a file that holds text." in done.stdout


@pytest.mark.django_db
def test_ingest_says_which_files_of_a_folder_it_passed_over(tmp_path: Path) -> None:
    factories.label()
    for name in ("fine.md", "book.xlsx", "old.doc", ".hidden"):
        _file(tmp_path, name, LEAVE)
    out, error = StringIO(), StringIO()

    flags = ("--inline", "--labels", "all-staff")
    call_command("ingest", str(tmp_path), *flags, stdout=out, stderr=error)

    assert out.getvalue().startswith("fine.md: awaiting approval")
    assert "Passed over 2 files of other kinds: book.xlsx, old.doc" in error.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "remedy"), [row for row in UNREADABLE if Path(row[0]).suffix in SUFFIXES]
)
def test_ingest_names_the_file_that_failed_and_takes_the_others(
    tmp_path: Path, name: str, content: bytes, remedy: str
) -> None:
    factories.label()
    _file(tmp_path, name, content)
    _file(tmp_path, "fine.md", LEAVE)

    out, error = _fails("ingest", tmp_path, "--inline", "--labels", "all-staff", "--publish")

    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert remedy in lines[name]
    assert lines["fine.md"].startswith("published")
    assert error == "1 of 2 files failed; see their lines above."


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "content", "remedy"), UNREADABLE)
def test_an_upload_that_gives_no_text_is_refused_at_once_and_leaves_nothing(
    owner: Api, settings: Any, name: str, content: bytes, remedy: str
) -> None:
    reply = _upload(owner, name, content)

    assert reply.status_code == 400
    assert reply.json()["code"] in ("empty", "encrypted", "refused", "unsupported")
    assert remedy in reply.json()["detail"]
    with access.editing():
        assert PolicyVersion.objects.count() == 0
    assert not [path for path in Path(settings.FILES_DIR).rglob("*") if path.is_file()]


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "content", "remedy"), UNREADABLE)
def test_the_admin_says_which_file_gives_no_text_and_why(
    name: str, content: bytes, remedy: str
) -> None:
    factories.label()
    page = signed_in(steward("boss", "People")).client

    reply = page.post(
        "/admin/documents/policyversion/add/",
        {"file": SimpleUploadedFile(name, content), "title": "Leave", "labels": ""},
    )

    assert reply.status_code == 200
    said = html.unescape(reply.content.decode())
    assert name in said
    assert remedy in said
    with access.editing():
        assert PolicyVersion.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "content", "reason"), BROKEN)
def test_a_broken_file_fails_with_its_reason_and_nothing_is_half_indexed(
    owner: Api, name: str, content: bytes, reason: str
) -> None:
    reply = _upload(owner, name, content)
    version_id = _work_on(reply.json()["version"])

    status = owner.get(f"versions/{reply.json()['version']}").json()
    assert status["state"] == "failed"
    assert reason in status["failure"]
    with access.editing():
        assert Chunk.objects.filter(version=version_id).count() == 0


@pytest.mark.django_db
def test_a_file_that_takes_too_long_is_said_to_and_the_next_one_is_read(
    owner: Api, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PARSE_CPU_SECONDS = 1
    hostile = "documents.tests.ingestion.confined.hostile_parsers:spin"
    reply = _upload(owner, "slow.txt", PLAIN.encode())
    with monkeypatch.context() as patched:
        slow = partial(run.parse_confined, entry=hostile)
        patched.setattr("documents.ingestion.confined.reading.parse_confined", slow)
        _work_on(reply.json()["version"])
    other = _upload(owner, "fine.txt", LEAVE.encode())
    _work_on(other.json()["version"])

    status = owner.get(f"versions/{reply.json()['version']}").json()
    assert status["state"] == "failed"
    assert "longer than 1 seconds to read. Split it" in status["failure"]
    fine = owner.get(f"versions/{other.json()['version']}").json()
    assert fine["state"] == "awaiting_approval"


@pytest.mark.django_db
def test_a_file_of_two_kinds_waits_for_a_person(owner: Api) -> None:
    both = "<html><!-- %PDF-1.7 --><body><h1>Keys</h1><p>Return them daily.</p></body></html>"
    reply = _upload(owner, "keys.html", both.encode())
    version_id = _work_on(reply.json()["version"])

    assert owner.get(f"versions/{reply.json()['version']}").json()["state"] == "held"
    with access.editing():
        finding = Finding.objects.get(version=version_id)
    assert (finding.rule, finding.where, finding.chunk_id) == ("active-content", "file", None)


@pytest.mark.django_db
def test_a_wrong_extension_is_taken_by_its_content_with_a_warning(owner: Api) -> None:
    page = "<!doctype html><html><body><h1>Keys</h1><p>Return them daily.</p></body></html>"
    reply = _upload(owner, "keys.docx", page.encode())
    _work_on(reply.json()["version"])

    status = owner.get(f"versions/{reply.json()['version']}").json()
    assert status["state"] == "awaiting_approval"
    assert "wrong_extension" in [notice["code"] for notice in status["warnings"]]


@pytest.mark.django_db
@pytest.mark.timeout(280)
def test_a_hundred_thousand_headings_end_in_bounded_time(tmp_path: Path) -> None:
    lines = "".join(f"# Heading {n}\n\nText {n}.\n\n" for n in range(100_000))
    path = _file(tmp_path, "many.md", lines)
    used: list[Usage] = []

    try:
        run.parse_confined(path.read_bytes(), file_name=path.name, observe=used.append)
    except ParseError as error:
        assert "Split it" in error.message  # noqa: PT017 - either outcome is right

    assert used[0].cpu_seconds < 63
    assert used[0].peak_memory_bytes < 1024**3 + 100 * 1024**2


@pytest.mark.django_db
def test_a_text_without_headings_is_taken_with_a_warning(tmp_path: Path, owner: Api) -> None:
    warning = "No headings were found: the text was divided by paragraphs."
    out = StringIO()
    arguments = ("--inline", "--labels", "all-staff", "--publish")
    call_command("ingest", str(_file(tmp_path, "plain.txt", PLAIN)), *arguments, stdout=out)

    reply = _upload(owner, "other.txt", PLAIN.encode())
    _work_on(reply.json()["version"])

    status = owner.get(f"versions/{reply.json()['version']}").json()
    assert out.getvalue().startswith("plain.txt: published")
    assert warning in out.getvalue()
    assert status["state"] == "awaiting_approval"
    assert [notice["code"] for notice in status["warnings"]] == ["no_headings"]
    assert status["warnings"][0]["message"].startswith(warning)


@pytest.mark.django_db
@pytest.mark.timeout(280)
def test_five_megabytes_on_one_line_are_taken_whole(owner: Api, settings: Any) -> None:
    reply = _upload(owner, "archive.txt", FIVE_MEGABYTES.encode())
    assert reply.status_code == 202

    version_id = _work_on(reply.json()["version"])

    with access.editing():
        rows = Chunk.objects.filter(version=version_id).order_by("ordinal")
        chunks = list(rows.values_list("text", "overlap"))
        sha256 = VersionDetail.objects.get(pk=version_id).file_sha256
    assert owner.get(f"versions/{reply.json()['version']}").json()["state"] == "awaiting_approval"
    assert " ".join(text[overlap:].strip() for text, overlap in chunks) == FIVE_MEGABYTES
    assert store.load(settings.FILES_DIR, sha256).decode() == FIVE_MEGABYTES


# --- labels, dates, users, questions -------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["ask", QUESTION, "--labels", "nope"], "Labels that exist: all-staff."),
        (["ask", QUESTION, "--user", "nobody"], "Name another with --user"),
        (["ask", QUESTION], "Say who asks: --user NAME, or --labels all-staff."),
        (["ask", LONG_QUESTION, "--labels", "all-staff"], "at most 1000 are allowed. Shorten it."),
        (["ask", " ", "--labels", "all-staff"], "Type a question in words."),
        (["ask", QUESTION, "--labels", "all-staff", "--as-of", "9999-01-01"], "Choose today"),
        (["ask", QUESTION, "--labels", "all-staff", "--answerer", "claude"], "ANTHROPIC_API_KEY"),
        (["search", QUESTION, "--labels", "nope"], "Labels that exist: all-staff."),
        (["search", QUESTION, "--user", "nobody"], "Name another with --user"),
        (["search", LONG_QUESTION, "--labels", "all-staff"], "Shorten it."),
        (["ingest", "README.md", "--labels", "nope"], "Labels that exist: all-staff."),
        (["ingest", "no-such-file.md"], "There is no file or folder no-such-file.md."),
        (["ingest", "tests/browser"], "a folder needs files ending in .docx, .htm"),
    ],
)
def test_a_command_that_cannot_be_run_says_what_to_do(arguments: list[str], remedy: str) -> None:
    factories.published(LEAVE)

    _, error = _fails(*arguments)

    assert remedy in error
    with access.editing():
        assert QuestionRecord.objects.count() == 0
        assert PolicyVersion.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", QUESTION, "--labels", "all-staff", "--as-of", "31/12/2026"),
        ("ingest", "README.md", "--effective-from", "31/12/2026"),
    ],
)
def test_a_bad_date_exits_with_1_before_anything_is_done(arguments: tuple[str, ...]) -> None:
    done = _manage(*arguments, **NOWHERE)

    assert done.returncode == 1
    assert "'31/12/2026' is not a date. Write it as 2026-07-01." in done.stderr


@pytest.mark.django_db
def test_dates_in_the_wrong_order_are_named(tmp_path: Path, owner: Api) -> None:
    dates = {"effective_from": "2026-02-01", "effective_to": "2026-01-01"}
    path = _file(tmp_path, "leave.md", LEAVE)
    flags = ("--effective-from", "2026-02-01", "--effective-to", "2026-01-01")

    out, _ = _fails("ingest", path, "--inline", "--labels", "all-staff", *flags)
    reply = _upload(owner, "leave.md", LEAVE.encode(), **dates)

    message = "The last day (2026-01-01) lies before the first (2026-02-01). Correct one of them."
    assert message in out
    assert (reply.status_code, reply.json()["detail"]) == (400, message)
    with access.editing():
        assert PolicyVersion.objects.count() == 0


@pytest.mark.django_db
def test_the_api_says_which_field_is_wrong_and_how(owner: Api) -> None:
    label = _upload(owner, "leave.md", LEAVE.encode(), labels="nope")
    date = _upload(owner, "leave.md", LEAVE.encode(), effective_from="31/12/2026")
    as_of = owner.post("ask", {"question": QUESTION, "as_of": "31/12/2026"})

    assert (label.status_code, label.json()["code"]) == (400, "unknown_label")
    assert "Labels that exist: all-staff." in label.json()["detail"]
    for reply, field in ((date, "effective_from"), (as_of, "as_of")):
        assert reply.status_code == 400
        assert [error["field"] for error in reply.json()["errors"]] == [field]
        assert "YYYY-MM-DD" in reply.json()["detail"]
    with access.editing():
        assert PolicyVersion.objects.count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["ask", "ask/stream", "search"])
def test_a_question_of_2000_characters_is_refused_by_the_api(owner: Api, path: str) -> None:
    reply = owner.post(path, {"question": LONG_QUESTION})

    assert reply.status_code == 400
    assert reply["Content-Type"] == "application/problem+json"
    assert reply.json()["code"] == "invalid_question"
    assert reply.json()["detail"].endswith("at most 1000 are allowed. Shorten it.")


@pytest.mark.django_db
def test_the_page_keeps_what_was_typed_and_says_what_is_wrong_with_it() -> None:
    page = signed_in(factories.user("ann")).client

    long = page.post("/", {"question": LONG_QUESTION})
    date = page.post("/", {"question": QUESTION, "as_of": "31/12/2026"})

    assert (long.status_code, date.status_code) == (400, 400)
    assert "at most 1000 are allowed. Shorten it." in long.content.decode()
    assert LONG_QUESTION in long.content.decode()
    assert "Write the date as year-month-day" in date.content.decode()
    assert QUESTION in date.content.decode()


@pytest.mark.django_db
def test_an_unknown_caller_is_told_to_sign_in_or_send_a_key() -> None:
    nobody = Client()

    page = nobody.get("/")
    bare = nobody.post("/api/v1/ask", {"question": QUESTION}, content_type="application/json")
    wrong = nobody.get("/api/v1/me", headers={"Authorization": "Bearer lqa_wrong"})

    assert (page.status_code, page["Location"]) == (302, "/login/?next=/")
    for reply in (bare, wrong):
        assert reply.status_code == 401
        assert reply["WWW-Authenticate"].startswith("Bearer")
        assert "key" in reply.json()["detail"]
    assert "Authorization: Bearer" in bare.json()["detail"]


# --- what is missing -----------------------------------------------------------------------


@pytest.mark.django_db
def test_without_a_key_for_claude_answers_are_quoted_unless_claude_was_asked_for() -> None:
    factories.published(LEAVE, title="Leave policy")
    asked = ("ask", QUESTION, "--labels", "all-staff")
    out = StringIO()

    call_command(*asked, stdout=out)
    nothing, error = _fails(*asked, "--answerer", "claude")

    assert "Staff receive 27 days of annual leave each year. [Leave policy §1]" in out.getvalue()
    assert nothing == ""
    assert error.startswith("Claude cannot answer without a key. Set ANTHROPIC_API_KEY, or")
    with access.editing():
        assert QuestionRecord.objects.count() == 1


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """A broker's database that no worker listens to."""
    path = services.addresses().redis_url.removeprefix("redis+socket://").split("?")[0]
    connected = redis.Redis(unix_socket_path=path, db=UNHEARD)
    connected.flushdb()
    yield connected
    connected.flushdb()
    connected.close()


@pytest.mark.django_db(transaction=True)
def test_an_upload_while_no_worker_runs_is_received_and_later_processed(
    tmp_path: Path, settings: Any, broker: redis.Redis
) -> None:
    factories.label()
    path = _file(tmp_path, "leave.md", LEAVE)
    parts, broker_url = connection.settings_dict, services.addresses().redis_url
    environment = {
        "DATABASE_URL": f"postgresql://{parts['USER']}@/{parts['NAME']}?host={parts['HOST']}",
        "REDIS_URL": broker_url.replace("virtual_host=0", f"virtual_host={UNHEARD}"),
        "DJANGO_SECRET_KEY": settings.SECRET_KEY,
        "LEGALQA_FILES_DIR": str(settings.FILES_DIR),
    }

    done = _manage("ingest", str(path), "--labels", "all-staff", "--publish", **environment)

    assert done.returncode == 1
    assert done.stdout == "leave.md: received; leave@1\n"
    assert "safely received, but no worker is running" in done.stderr
    assert "run this again with --inline" in done.stderr
    assert broker.llen("celery") == 1  # waits for a worker, who then does this:
    with access.editing():
        version = PolicyVersion.objects.get()
    tasks.ingest_version(version.pk)
    assert factories.index(version.pk).state == VersionState.PUBLISHED


@pytest.mark.django_db
def test_running_it_again_inline_finishes_what_was_received(tmp_path: Path) -> None:
    factories.label()
    path = _file(tmp_path, "leave.md", LEAVE)
    given = actions.Upload(
        LEAVE.encode(), "leave.md", policy_slug="leave", labels=("all-staff",), publish=True
    )
    actions.upload(given, actor=None)
    out = StringIO()

    call_command("ingest", str(path), "--inline", "--labels", "all-staff", stdout=out)

    assert out.getvalue().startswith("leave.md: published; leave@1;")
    assert "already there" in out.getvalue()
    with access.editing():
        assert PolicyVersion.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", QUESTION, "--labels", "all-staff"),
        ("ingest", "README.md", "--labels", "all-staff"),
        ("migrate",),
    ],
)
def test_a_command_without_its_database_exits_with_1_and_the_remedy(
    arguments: tuple[str, ...],
) -> None:
    done = _manage(*arguments, **NOWHERE)

    assert done.returncode == 1
    assert "The database cannot be reached" in done.stderr
    assert "Start it, or check DATABASE_URL; python manage.py doctor says what" in done.stderr


def test_the_doctor_itself_works_without_database_and_broker() -> None:
    done = _manage("doctor", "--json", **NOWHERE)

    parts = {part["name"]: part for part in json.loads(done.stdout)}
    ill = {name for name, part in parts.items() if not part["is_well"]}
    assert done.returncode == 1
    assert ill == {
        *("database", "migrations", "roles", "broker", "worker", "clock"),
        *("uploads", "sweeper", "files", "vectors", "audit"),
    }
    assert all(parts[name]["remedy"] for name in ill)
    assert "check DATABASE_URL" in parts["database"]["remedy"]


CALLS_WITHOUT_DATABASE = """
import json, sys, django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, HTTP_HOST="localhost")
key = {"Authorization": "Bearer lqa_x"}
def call(path, body=None, **headers):
    send = {"headers": headers}
    if body is not None:
        reply = client.post(path, body, content_type="application/json", **send)
    else:
        reply = client.get(path, **send)
    return {"status": reply.status_code, "type": reply["Content-Type"],
            "retry": reply.get("Retry-After"), "body": reply.content.decode()}
question = {"question": "How many days of leave?"}
found = {path: call(f"/api/v1/{path}", question, **key) for path in ("ask", "ask/stream", "search")}
found["ingest"] = call("/api/v1/ingest", {"document_name": "a.md", "content": "# A"}, **key)
found["healthz"] = call("/healthz")
client.cookies["sessionid"] = "x" * 32
found["page"] = call("/")
json.dump(found, sys.stdout)
"""


def test_api_and_pages_without_their_database_are_503_and_say_when_to_come_back() -> None:
    environment = {**os.environ, **NOWHERE, "DJANGO_SETTINGS_MODULE": "legalqa.settings"}
    done = subprocess.run(
        [sys.executable, "-c", CALLS_WITHOUT_DATABASE],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    found = json.loads(done.stdout)
    assert {name: reply["status"] for name, reply in found.items()} == dict.fromkeys(found, 503)
    for name in ("ask", "ask/stream", "search", "ingest"):
        problem = json.loads(found[name]["body"])
        assert found[name]["type"] == "application/problem+json"
        assert problem["code"] == "database_down"
        assert problem["detail"] == "The database cannot be reached. Try again shortly."
        assert int(found[name]["retry"]) > 0
    assert "Nothing is lost. Try again in a few seconds." in found["page"]["body"]
    assert int(found["page"]["retry"]) > 0
