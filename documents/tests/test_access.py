"""Promise 2: nobody reads what they may not, because the database refuses."""

from __future__ import annotations

import datetime

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from documents import access, actions
from documents.access import Reader
from documents.errors import AccessError, UnknownLabelError, ValidationProblem
from documents.models import (
    AccessClass,
    Chunk,
    ChunkTerms,
    Finding,
    LabelGrant,
    Policy,
    PolicyVersion,
    Section,
    SectionText,
    TermDelta,
    VersionDetail,
)
from documents.tests import factories

pytestmark = pytest.mark.django_db

PAY = "# Pay bands\n\n## 7 Pay bands\n\nBand D starts at 61,000 euros.\n"
LEAVE = "# Leave\n\n## 3 Leave\n\nAnnual leave is 27 days.\n"
MIXED = (
    "# Travel\n\n## 1 Fares\n\nSecond class is paid.\n\n"
    "## Annex A\n\nThe secret upgrade list names the directors.\n"
)


def _texts(reader: Reader, as_of: datetime.date | None = None) -> set[str]:
    with access.reading_as(reader, as_of):
        return set(Chunk.objects.values_list("text", flat=True))


def test_a_reader_sees_exactly_the_chunks_under_their_labels():
    factories.published(PAY, labels=("hr",))
    factories.published(LEAVE)
    ann, hana = factories.user(), factories.user(labels=["hr"])

    assert _texts(Reader.for_user(ann)) == {"Annual leave is 27 days."}
    assert _texts(Reader.for_user(hana)) == {
        "Annual leave is 27 days.",
        "Band D starts at 61,000 euros.",
    }


def test_a_restriction_narrows_and_never_widens():
    factories.label("legal-privileged", role="restriction")
    factories.published(PAY, labels=("hr", "legal-privileged"))
    hr_alone = factories.user(labels=["hr"])
    restricted_alone = factories.user(labels=["legal-privileged"])
    both = factories.user(labels=["hr", "legal-privileged"])

    assert _texts(Reader.for_user(hr_alone)) == set()
    assert _texts(Reader.for_user(restricted_alone)) == set()
    assert _texts(Reader.for_user(both)) == {"Band D starts at 61,000 euros."}


def test_a_class_without_an_audience_is_read_by_nobody():
    restriction = factories.label("need-to-know", role="restriction")
    version = factories.published(PAY)
    with access.editing():
        Chunk.objects.filter(version=version).update(access_class=access.class_for([restriction]))
    holder = factories.user(labels=["need-to-know"])

    assert _texts(Reader.for_user(holder)) == set()


def test_a_label_that_text_is_under_cannot_be_deleted():
    """Deleting a restriction would widen with the next change of labels."""
    factories.published(PAY, labels=("hr", "all-staff"))
    factories.label("unused").delete()

    with pytest.raises(IntegrityError, match="hr is in use"), transaction.atomic():
        factories.label("hr").delete()


def test_a_class_with_a_label_that_is_gone_is_read_by_nobody():
    version = factories.published(PAY, labels=("all-staff",))
    with access.editing():
        lost = AccessClass.objects.create(key=[factories.label().pk, 999_999])
        Chunk.objects.filter(version=version).update(access_class=lost)

    assert _texts(Reader.for_user(factories.user())) == set()


def test_labels_come_from_groups_users_and_everyones_label(settings):
    person = factories.user(labels=["hr"], groups=["reviewer"])
    LabelGrant.objects.create(label=factories.label("board"), group=person.groups.get())

    assert access.labels_of(Reader.for_user(person)) == {"hr", "board", "all-staff"}
    settings.EVERYONE_LABEL = ""
    assert access.labels_of(Reader.for_user(person)) == {"hr", "board"}


def test_a_key_narrows_its_users_labels():
    person = factories.user(labels=["hr"])

    assert access.labels_of(Reader.for_user(person, key_labels=["hr", "board"])) == {"hr"}


def test_a_disabled_account_reads_nothing():
    factories.published(LEAVE)
    gone = factories.user()
    reader = Reader.for_user(gone)
    gone.is_active = False
    gone.save()

    assert _texts(reader) == set()


def test_a_revoked_label_is_gone_with_the_next_reading():
    factories.published(PAY, labels=("hr",))
    hana = factories.user(labels=["hr"])
    reader = Reader.for_user(hana)
    assert _texts(reader)

    actions.revoke_label(LabelGrant.objects.get(user=hana), actor=None)

    assert _texts(reader) == set()


def test_an_unknown_label_is_refused_with_the_known_ones():
    factories.label("hr")

    with pytest.raises(UnknownLabelError, match=r"no label nope.*hr"):
        Reader.with_labels(["nope"])


def test_the_first_and_last_day_are_read_and_the_days_around_are_not():
    day = datetime.date
    factories.published(LEAVE, effective_from=day(2025, 3, 1), effective_to=day(2025, 6, 30))
    reader = Reader.for_user(factories.user())

    assert not _texts(reader, day(2025, 2, 28))
    assert _texts(reader, day(2025, 3, 1))
    assert _texts(reader, day(2025, 6, 30))
    assert not _texts(reader, day(2025, 7, 1))


def test_a_future_version_is_invisible_and_its_date_refused():
    tomorrow = access.today() + datetime.timedelta(days=1)
    factories.published(LEAVE, effective_from=tomorrow)
    reader = Reader.for_user(factories.user())

    assert _texts(reader) == set()
    with (
        pytest.raises(ValidationProblem, match="lies in the future"),
        access.reading_as(reader, tomorrow),
    ):
        pytest.fail("the block must not be entered")
    reviewer = Reader.for_user(factories.user(groups=["reviewer"]))
    assert _texts(reviewer, tomorrow)


def test_the_application_sees_nothing_outside_reading_and_editing():
    factories.published(LEAVE)

    assert Chunk.objects.count() == 0
    assert Policy.objects.count() == 0
    assert PolicyVersion.objects.count() == 0
    assert VersionDetail.objects.count() == 0


def test_the_reader_role_has_no_right_on_full_texts_files_counts_and_warnings():
    """No grant gives a reader a whole section text, file path, count, warning or decision."""
    factories.published(LEAVE)
    reader = Reader.for_user(factories.user())

    for model in (SectionText, VersionDetail, Finding):
        with pytest.raises(ProgrammingError, match="permission denied"), access.reading_as(reader):
            list(model.objects.all())


def test_the_reader_role_can_write_nothing():
    version = factories.published(LEAVE)
    reader = Reader.for_user(factories.user())

    with pytest.raises(ProgrammingError, match="permission denied"), access.reading_as(reader):
        Chunk.objects.filter(version=version).update(text="changed")


def test_a_version_row_is_visible_only_with_one_of_its_chunks():
    factories.published(PAY, labels=("hr",), policy_slug="pay")
    factories.published(LEAVE, policy_slug="leave")
    tomorrow = access.today() + datetime.timedelta(days=1)
    factories.published(LEAVE + "\nMore.\n", policy_slug="leave", effective_from=tomorrow)

    with access.reading_as(Reader.for_user(factories.user())):
        assert [p.slug for p in Policy.objects.all()] == ["leave"]
        assert list(PolicyVersion.objects.values_list("number", flat=True)) == [1]
        assert Section.objects.filter(version__policy__slug="pay").count() == 0


def test_a_restricted_annex_is_hidden_inside_an_open_policy():
    version = factories.published(MIXED)
    factories.label("board")
    with access.editing():
        annex = Section.objects.get(version=version, number="Annex A")
    actions.set_section_labels(annex.pk, ["board"], actor=None)
    ann = Reader.for_user(factories.user())
    board = Reader.for_user(factories.user(labels=["board"]))

    assert _texts(ann) == {"Second class is paid."}
    assert "The secret upgrade list names the directors." in _texts(board)
    with access.reading_as(ann) as reading:
        assert access.readable_section(reading, annex.public_id) is None
        titles = [s.title for s in access.readable_sections(reading, version.policy.slug)]
    assert titles == ["Fares"]


def test_term_rows_and_statistics_follow_the_same_rule():
    factories.published(PAY, labels=("hr",))
    reader = Reader.for_user(factories.user())

    with access.reading_as(reader):
        assert ChunkTerms.objects.count() == 0
        assert TermDelta.objects.count() == 0


def test_reading_refuses_to_nest_and_editing_inside_reading():
    reader = Reader.for_user(factories.user())

    with access.reading_as(reader):
        with pytest.raises(AccessError), access.reading_as(reader):
            pytest.fail("nested")
        with pytest.raises(AccessError), access.editing():
            pytest.fail("nested")
    with access.editing(), pytest.raises(AccessError), access.reading_as(reader):
        pytest.fail("nested")


def test_role_and_settings_are_restored_after_an_error():
    class Boom(Exception):
        pass

    reader = Reader.for_user(factories.user())
    with pytest.raises(Boom), access.reading_as(reader):
        raise Boom

    with connection.cursor() as cursor:
        cursor.execute(
            "select current_user::text, current_setting('legalqa.classes', true),"
            " current_setting('legalqa.scope', true)"
        )
        row = cursor.fetchone()
    assert row is not None
    assert row[0] == "legalqa_app"
    assert not row[1]
    assert not row[2]


def test_a_released_savepoint_leaves_nothing_behind():
    reader = Reader.for_user(factories.user())
    with access.reading_as(reader):
        pass

    with connection.cursor() as cursor:
        cursor.execute("select current_user::text")
        assert cursor.fetchone() == ("legalqa_app",)
    assert AccessClass.objects.count() == 0


def test_the_application_cannot_change_or_remove_an_audit_row():
    from documents.models import AuditEvent

    factories.published(LEAVE)
    assert AuditEvent.objects.filter(action="version_published").count() == 1

    for act in (
        lambda: AuditEvent.objects.update(actor_name="nobody"),
        lambda: AuditEvent.objects.all().delete(),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            act()


def test_no_view_function_or_copy_stands_over_a_protected_table():
    """T-103 to T-105: no plain or materialised view, no security-definer function."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select relname from pg_class c join pg_namespace n on n.oid = relnamespace"
            " where nspname = 'public' and relkind in ('v', 'm')"
        )
        assert cursor.fetchall() == []
        cursor.execute(
            "select proname from pg_proc p join pg_namespace n on n.oid = pronamespace"
            " where nspname = 'public' and prosecdef"
        )
        assert cursor.fetchall() == []


def test_every_table_with_policy_text_has_forced_row_security():
    """A new table that refers to a version, section, chunk or question must be protected."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            select distinct c.relname from pg_class c
              join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
              join pg_namespace n on n.oid = c.relnamespace
             where nspname = 'public' and c.relkind = 'r'
               and a.attname in ('text', 'canonical_text', 'shown', 'question', 'folded')
               and not (c.relrowsecurity and c.relforcerowsecurity)
               and c.relname like any (array['documents_%', 'qa_%'])
            """
        )
        assert cursor.fetchall() == []


def test_the_system_checks_find_nothing_wrong_and_notice_what_is():
    from django.core.checks import run_checks

    assert [m for m in run_checks(databases=["default"]) if "documents." in str(m.id)] == []
