"""`ingest DIR --sync`: a folder and its policies in step, and nothing by surprise."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from documents import access, actions, mirror, pipeline
from documents.models import MirroredFile, Policy, PolicyVersion
from documents.tests import factories
from documents.tests.test_reindexing import models

pytestmark = pytest.mark.django_db
__all__ = ["models"]  # the fixture of fake models


@pytest.fixture
def folder(models, tmp_path, monkeypatch) -> Path:
    """A folder of three policies; files are read in this process, and no model is loaded."""
    factories.label()
    monkeypatch.setattr(pipeline, "read_confined", factories._parse_here)
    made = tmp_path / "handbook"
    for name in ("hr/leave", "it/vpn", "travel"):
        write(made, f"{name}.md", name)
    return made


def write(folder: Path, name: str, rule: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {rule}\n\n## 1 Rule\n\nThe {rule} rule allows three days.\n")
    return path


def sync(folder: Path, *arguments: str) -> dict[str, Any]:
    """The JSON of one run; done in this process."""
    out = io.StringIO()
    call_command("ingest", str(folder), "--sync", "--inline", "--json", *arguments, stdout=out)
    return json.loads(out.getvalue())


def done(folder: Path, *arguments: str) -> dict[str, Any]:
    return sync(folder, "--yes", "--publish", "--labels", "all-staff", *arguments)


def actions_of(result: dict[str, Any]) -> dict[str, str]:
    return {file["path"]: file["action"] for file in result["files"]}


def states() -> dict[str, str]:
    with access.editing():
        rows = PolicyVersion.objects.select_related("policy")
        return {str(version): version.state for version in rows}


def days(slug: str, number: int) -> tuple[datetime.date, datetime.date | None]:
    with access.editing():
        version = PolicyVersion.objects.get(policy__slug=slug, number=number)
        return access.effective_days(version)


def test_the_plan_is_shown_first_and_changes_nothing(folder):
    result = sync(folder)

    assert result["dry_run"]
    assert actions_of(result) == dict.fromkeys(["hr/leave.md", "it/vpn.md", "travel.md"], "new")
    with access.editing():
        assert not Policy.objects.exists()
        assert not MirroredFile.objects.exists()


def test_new_changed_renamed_and_gone_files_are_told_apart(folder):
    assert done(folder)["counts"] == {"new": 3}
    assert states() == {"hr-leave@1": "published", "it-vpn@1": "published", "travel@1": "published"}
    write(folder, "hr/leave.md", "changed leave")
    (folder / "it/vpn.md").rename(folder / "it/remote access.md")
    (folder / "travel.md").unlink()
    write(folder, "new.md", "new")

    plan = sync(folder)
    assert actions_of(plan) == {
        "hr/leave.md": "changed",
        "it/remote access.md": "renamed",
        "travel.md": "gone",
        "new.md": "new",
    }
    result = done(folder)

    assert states() == {
        "hr-leave@1": "published",
        "hr-leave@2": "published",
        "it-vpn@1": "published",
        "travel@1": "published",  # reported, not retired
        "new@1": "published",
    }
    tomorrow = access.today() + datetime.timedelta(days=1)
    assert days("hr-leave", 2) == (tomorrow, None)  # its other text began today
    assert "another text of it began today" in json.dumps(result)
    assert actions_of(sync(folder)) == {
        "hr/leave.md": "unchanged",
        "it/remote access.md": "unchanged",
        "travel.md": "gone",
        "new.md": "unchanged",
    }


def test_a_gone_file_is_retired_as_of_today_when_asked_and_may_come_back(folder):
    done(folder)
    text = (folder / "travel.md").read_text()
    (folder / "travel.md").unlink()

    done(folder, "--retire-gone")

    today = access.today()
    tomorrow = today + datetime.timedelta(days=1)
    assert days("travel", 1) == (today, today)
    assert "travel.md" not in actions_of(sync(folder))
    (folder / "travel.md").write_text(text)
    assert actions_of(sync(folder))["travel.md"] == "returned"
    done(folder)
    assert days("travel", 2) == (tomorrow, None)
    assert set(actions_of(sync(folder)).values()) == {"unchanged"}


def test_what_waits_for_approval_is_rejected_when_its_file_is_gone(folder):
    sync(folder, "--yes", "--labels", "all-staff")
    (folder / "travel.md").unlink()

    done(folder, "--retire-gone")

    assert states()["travel@1"] == "rejected"


def test_a_version_that_begins_later_is_named_and_the_run_fails(folder):
    later = (access.today() + datetime.timedelta(days=9)).isoformat()
    done(folder, "--effective-from", later)
    (folder / "travel.md").unlink()

    with pytest.raises(CommandError, match="1 of 3 files failed"):
        done(folder, "--retire-gone")

    assert states()["travel@1"] == "published"


def test_an_emptied_folder_retires_nothing_unless_that_is_said(folder):
    for n in range(6):
        write(folder, f"more/{n}.md", f"rule {n}")
    done(folder)
    for path in folder.glob("more/*.md"):
        path.unlink()

    with pytest.raises(CommandError, match="--many-gone"):
        done(folder, "--retire-gone")
    assert set(states().values()) == {"published"}
    assert done(folder, "--retire-gone", "--many-gone")["counts"]["gone"] == 6
    with pytest.raises(CommandError, match="no file to take"):
        sync(folder / "more")


def test_a_run_that_was_broken_off_goes_on_where_it_stopped(folder, monkeypatch):
    upload, taken = actions.upload, []

    def stops_at_the_second(given: actions.Upload, **kwargs: Any) -> actions.Received:
        taken.append(given.policy_slug)
        if len(taken) == 2:
            raise KeyboardInterrupt
        return upload(given, **kwargs)

    monkeypatch.setattr(actions, "upload", stops_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        done(folder)
    monkeypatch.setattr(actions, "upload", upload)

    assert done(folder)["counts"] == {"new": 2, "unchanged": 1}
    assert set(states().values()) == {"published"}
    assert len(states()) == 3


def test_what_people_turned_down_is_not_taken_again_until_the_file_changes(folder):
    sync(folder, "--yes", "--labels", "all-staff")
    with access.editing():
        rejected = PolicyVersion.objects.get(policy__slug="travel")
    actions.reject_version(rejected.pk, reviewer=None, note="No.")

    result = done(folder)

    assert actions_of(result)["travel.md"] == "unchanged"
    assert "It was rejected" in json.dumps(result)
    write(folder, "travel.md", "better travel")
    assert actions_of(sync(folder))["travel.md"] == "changed"


def test_a_file_that_cannot_be_taken_is_named_and_the_others_are_taken(folder):
    (folder / "bad.md").write_bytes(b"")
    write(folder, "it-vpn.md", "another vpn")  # its policy would be that of it/vpn.md

    with pytest.raises(CommandError, match="2 of 5 files failed"):
        done(folder)

    assert set(states()) == {"hr-leave@1", "travel@1", "it-vpn@1"}


def test_a_link_out_of_the_folder_is_not_followed(folder, tmp_path):
    (tmp_path / "secret.md").write_text("# Secret\n\nText.\n")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")

    assert "link.md" not in actions_of(sync(folder))


def test_two_runs_over_one_mirror_do_not_meet(folder, monkeypatch):
    with access.editing():
        monkeypatch.setattr(connection, "cursor", _Refusing)
        with pytest.raises(Exception, match="Another run brings the mirror"), mirror.alone("a"):
            pytest.fail("it began")


class _Refusing:
    """A cursor of a database in which another holds the lock."""

    def __enter__(self) -> _Refusing:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def execute(self, *_: object) -> None:
        return None

    def fetchone(self) -> tuple[bool]:
        return (False,)


def test_the_options_of_a_sync_are_refused_without_it(folder):
    with pytest.raises(CommandError, match="--yes goes with --sync"):
        call_command("ingest", str(folder), "--yes")
    with pytest.raises(CommandError, match="takes one folder"):
        call_command("ingest", str(folder / "travel.md"), "--sync")
