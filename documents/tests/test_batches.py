"""Many files at once: each with an outcome of its own, none lost, none taken twice."""

from __future__ import annotations

import datetime
import io
import shutil
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User

from documents import access, actions, batches, stored_files, sweeping
from documents.batches import HandedIn, Terms
from documents.errors import StorageError, ValidationProblem
from documents.models import AuditEvent, BatchItem, PolicyVersion, UploadBatch
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.ingestion.test_archive import packed

pytestmark = pytest.mark.django_db
STAFF = Terms(labels=("all-staff",))


@pytest.fixture
def owner() -> User:
    factories.label()
    return support.person("olive", "policy owner", "HR")


def policy_text(name: str) -> str:
    return f"# {name}\n\n## 1 Rule\n\nThe {name} rule allows three days.\n"


def handed_in(*files: tuple[str, bytes | str]) -> list[HandedIn]:
    made = []
    for name, data in files:
        raw = data.encode() if isinstance(data, str) else data
        made.append(HandedIn(name, io.BytesIO(raw), len(raw)))
    return made


def outcomes(batch: UploadBatch) -> list[tuple[str, str, str]]:
    with access.editing():
        rows = batch.items.order_by("ordinal").values_list("name", "outcome", "code")
        return list(rows)


def versions() -> list[str]:
    with access.editing():
        rows = PolicyVersion.objects.select_related("policy").order_by("pk")
        return [str(version) for version in rows]


def take(files: Sequence[HandedIn], owner: User, terms: Terms = STAFF) -> UploadBatch:
    batch = batches.receive(files, terms, actor=owner)
    batches.take_batch(batch.pk)
    return batch


def test_each_file_of_an_archive_has_an_outcome_of_its_own(owner):
    files: dict[str, bytes | str] = {
        "hr/leave.md": policy_text("leave"),
        "it/leave.md": policy_text("other leave"),
        "it/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(50),
        "../escape.md": policy_text("escape"),
        "inner.zip": packed({"a.md": "x"}),
        "__MACOSX/._leave.md": "x",
    }

    batch = take(handed_in(("handbook.zip", packed(files))), owner)

    assert [outcome for _, outcome, _ in outcomes(batch)] == [
        "received",
        "received",
        "refused",
        "refused",
        "refused",
        "passed_over",
    ]
    assert versions() == ["hr-leave@1", "it-leave@1"]
    with access.editing():
        detail = PolicyVersion.objects.get(policy__slug="hr-leave").detail
        assert (detail.file_name, detail.created_by) == ("leave.md", owner)
    assert not stored_files.incoming(batch.public_id).exists()


def test_loose_files_beside_archives_are_taken_and_a_bad_archive_does_not_hold_them_up(owner):
    batch = take(
        handed_in(
            ("travel.md", policy_text("travel")),
            ("broken.zip", packed({"a.md": "x"})[:-30]),
            ("more.zip", packed({"vpn.md": policy_text("vpn")})),
            ("empty.md", "  \n"),
        ),
        owner,
    )

    assert outcomes(batch) == [
        ("travel.md", "received", ""),
        ("broken.zip", "refused", "refused"),
        ("vpn.md", "received", ""),
        ("empty.md", "refused", "empty"),
    ]


def test_the_same_again_is_a_duplicate_and_a_changed_file_is_the_next_version(owner):
    take(handed_in(("a.zip", packed({"leave.md": policy_text("leave")}))), owner)
    files = {"leave.md": policy_text("leave"), "vpn.md": policy_text("vpn")}
    again = take(handed_in(("b.zip", packed(files))), owner)
    assert [outcome for _, outcome, _ in outcomes(again)] == ["duplicate", "received"]

    later = Terms(labels=("all-staff",), effective_from=access.today() + datetime.timedelta(days=9))
    take(handed_in(("c.zip", packed({"leave.md": policy_text("new leave")}))), owner, later)

    assert versions() == ["leave@1", "vpn@1", "leave@2"]


def test_two_files_that_would_be_one_policy_are_told_apart(owner):
    files = {"travel-policy.md": policy_text("travel"), "Travel_Policy.md": policy_text("other")}

    batch = take(handed_in(("a.zip", packed(files))), owner)

    assert [code for *_, code in outcomes(batch)] == ["", "name_taken"]
    assert versions() == ["travel-policy@1"]


def test_a_batch_that_was_broken_off_goes_on_where_it_stopped(owner, monkeypatch):
    files = {f"rule {n}.md": policy_text(f"rule {n}") for n in range(5)}
    batch = batches.receive(handed_in(("a.zip", packed(files))), STAFF, actor=owner)
    upload, calls = actions.upload, []

    def dies_at_the_third(given: actions.Upload, **kwargs: object) -> actions.Received:
        calls.append(given.file_name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return upload(given, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(actions, "upload", dies_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        batches.take_batch(batch.pk)
    assert len(versions()) == 2

    batches.take_batch(batch.pk)
    batches.take_batch(batch.pk)  # delivered twice

    assert [outcome for _, outcome, _ in outcomes(batch)] == ["received"] * 5
    assert len(versions()) == 5


def test_a_file_at_which_the_worker_ends_each_time_does_not_hold_up_the_others(owner, monkeypatch):
    files = {"poison.md": policy_text("poison"), "good.md": policy_text("good")}
    batch = batches.receive(handed_in(("a.zip", packed(files))), STAFF, actor=owner)
    upload = actions.upload

    def dies_of_poison(given: actions.Upload, **kwargs: object) -> actions.Received:
        if given.file_name == "poison.md":
            raise KeyboardInterrupt
        return upload(given, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(actions, "upload", dies_of_poison)
    for _ in range(batches.MAX_TRIES):
        with pytest.raises(KeyboardInterrupt):
            batches.take_batch(batch.pk)
    batches.take_batch(batch.pk)

    assert [(o, c) for _, o, c in outcomes(batch)] == [
        ("refused", "internal_error"),
        ("received", ""),
    ]


def test_a_full_disk_makes_the_files_wait_and_says_so(owner, monkeypatch):
    batch = batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)
    upload = actions.upload
    full = StorageError("The file could not be stored.")

    def is_full(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(actions, "upload", is_full)
    for _ in range(batches.MAX_TRIES + 1):
        batches.take_batch(batch.pk)
    with access.editing():
        assert UploadBatch.objects.get().problem == full.message
    monkeypatch.setattr(actions, "upload", upload)
    batches.take_batch(batch.pk)

    assert outcomes(batch) == [("a.md", "received", "")]
    with access.editing():
        assert UploadBatch.objects.get().problem == ""


def test_nothing_is_kept_of_a_batch_that_cannot_be_written(owner, settings, monkeypatch):
    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", is_full)
    with pytest.raises(StorageError, match="nothing of them was kept"):
        batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)

    assert list((settings.FILES_DIR / "incoming").iterdir()) == []
    with access.editing():
        assert not UploadBatch.objects.exists()


@pytest.mark.parametrize(
    ("terms", "code"),
    [
        (Terms(labels=("no-such",)), "unknown_label"),
        (Terms(department="Finance"), "unknown_department"),
        (
            Terms(effective_from=datetime.date(2026, 5, 1), effective_to=datetime.date(2026, 4, 1)),
            "bad_dates",
        ),
        (Terms(labels=("secret",), publish=True), "no_label"),
    ],
)
def test_terms_under_which_no_file_could_be_taken_are_refused_at_once(owner, terms, code):
    factories.label("secret", role="restriction")
    with pytest.raises(ValidationProblem) as caught:
        batches.receive(handed_in(("a.md", policy_text("a"))), terms, actor=owner)
    assert caught.value.code == code


def test_too_much_at_once_is_refused(owner, settings):
    settings.MAX_BATCH_BYTES = 10
    with pytest.raises(ValidationProblem, match="Hand it in in parts"):
        batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)


def test_who_lost_the_right_meanwhile_takes_nothing(owner):
    batch = batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)
    owner.groups.clear()

    batches.take_batch(batch.pk)

    assert [code for *_, code in outcomes(batch)] == ["permission_denied"]
    assert versions() == []


def test_a_policy_of_another_department_is_neither_touched_nor_told_of(owner):
    factories.received(policy_text("theirs"), policy_slug="travel", department="Finance")

    batch = take(handed_in(("travel.md", policy_text("travel"))), owner)

    assert [outcome for _, outcome, _ in outcomes(batch)] == ["received"]
    with access.editing():
        made = BatchItem.objects.get().version
        assert made is not None
        assert made.policy.slug.startswith("travel-")
        assert made.policy.department == "HR"


def test_the_sweeper_finds_a_batch_that_no_message_knows_of(owner, settings):
    batch = batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)
    assert sweeping.requeue_batches() == 0
    settings.SWEEP_AFTER_SECONDS = 0
    assert sweeping.requeue_batches() == 1

    batches.take_batch(batch.pk)

    assert sweeping.requeue_batches() == 0
    assert AuditEvent.objects.filter(action="batch_received").count() == 1


def test_what_a_batch_left_when_it_was_broken_off_goes_after_a_day(owner, monkeypatch):
    batch = batches.receive(handed_in(("a.md", policy_text("a"))), STAFF, actor=owner)
    waiting, stray = stored_files.incoming(batch.public_id), stored_files.incoming("stray")
    stray.mkdir()
    assert stored_files.remove_stray_batches() == 0
    monkeypatch.setattr(stored_files, "STRAY_AFTER_SECONDS", -1)

    assert stored_files.remove_stray_batches() == 1

    assert (waiting.exists(), stray.exists()) == (True, False)
    batches.take_batch(batch.pk)
    assert outcomes(batch) == [("a.md", "received", "")]
