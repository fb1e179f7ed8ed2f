"""R-13 to R-19: the same work twice, work in the wrong order, people and workers at once."""

from __future__ import annotations

import datetime
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.db.models import Func

from documents import access, actions, deletion, embedding, lifecycle, pipeline, sweeping, tasks
from documents.access import Reader
from documents.errors import DocumentsError, TransitionError
from documents.models import Chunk, ChunkTerms, PolicyVersion, VersionDetail, VersionState
from documents.tests import factories
from tests.faults import journey
from tests.faults.invariants import violations
from tests.faults.journey import SECTIONS, Broker, text_of

pytestmark = [
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(240),
]
PAIRS = 20


@pytest.fixture
def broker(monkeypatch) -> Broker:
    factories.label()
    factories.label("hr")
    return journey.use_broker(monkeypatch)


def together(*acts: Callable[[], object]) -> list[object]:
    """Do these at the same moment on connections of their own; what each returned or raised."""
    start = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)

    def run(place: int, act: Callable[[], object]) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("select 1")  # connected before the start
            start.wait(30)
            results[place] = act()
        except Exception as error:  # noqa: BLE001 - what was raised is the result
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def _given(slug: str, data: bytes, first: int = 2024, *, publish: bool = True) -> actions.Upload:
    return actions.Upload(
        data=data,
        file_name=f"{slug}.md",
        policy_slug=slug,
        labels=("all-staff",),
        effective_from=datetime.date(first, 1, 1),
        publish=publish,
    )


def _upload(given: actions.Upload) -> Callable[[], actions.Received]:
    return lambda: actions.upload(given, actor=None)


def _awaiting(broker: Broker, slug: str) -> PolicyVersion:
    received = actions.upload(_given(slug, text_of(slug), publish=False), actor=None)
    journey.work(broker)
    return factories.version(received.version_id)


def _states(ids: Sequence[int]) -> list[str]:
    with access.editing():
        rows = PolicyVersion.objects.filter(pk__in=ids).values_list("state", flat=True)
        return sorted(rows)


def _shown(slug: str, label: str = "all-staff") -> int:
    with access.reading_as(Reader.with_labels([label])):
        return Chunk.objects.filter(version__policy__slug=slug).count()


def _run(name: str, args: Sequence[object]) -> Callable[[], object]:
    return lambda: getattr(tasks, name)(*args)


# The same message twice, five times, in and out of order, at once


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("order", ["in order", "out of order"])
def test_messages_that_come_again_do_their_work_once(broker, copies, order):
    received = actions.upload(_given("twice", text_of("twice")), actor=None)
    shuffled = random.Random(copies)  # noqa: S311 - the same order each time
    seen: list[tuple[str, list[Any]]] = []
    while broker.messages:
        batch = [message for message in broker.messages for _ in range(copies)]
        batch += seen if order == "out of order" else []
        if order == "out of order":
            shuffled.shuffle(batch)
        seen += broker.messages
        broker.messages.clear()
        for name, args in batch:
            _run(name, args)()
        broker.messages[:] = [m for m in broker.messages if m not in seen]

    assert journey.state_of(received.version_id) == VersionState.PUBLISHED
    assert violations(received=[received.version_id]) == []


@pytest.mark.parametrize("copies", [2, 5])
def test_messages_that_come_at_once_do_their_work_once(broker, copies):
    received = actions.upload(_given("at-once", text_of("at-once")), actor=None)
    for _ in range(10):
        if not broker.messages:
            break
        name, args = broker.messages.pop(0)
        results = together(*[_run(name, args)] * copies)
        assert [result for result in results if isinstance(result, Exception)] == []

    assert journey.state_of(received.version_id) == VersionState.PUBLISHED
    assert violations(received=[received.version_id]) == []


def test_a_message_of_long_ago_changes_nothing(broker):
    received = actions.upload(_given("late", text_of("late")), actor=None)
    first = list(broker.messages)
    journey.work(broker)
    actions.withdraw_version(received.version_id, actor=None, note="in error")
    broker.messages += [*first, ("index_version", [received.version_id])]
    broker.messages += [("embed_batch", [received.version_id, [1, 2, 3]])]

    journey.work(broker)

    assert journey.state_of(received.version_id) == VersionState.WITHDRAWN
    assert violations(received=[received.version_id]) == []


# Two uploads, two approvals


def test_two_versions_of_one_policy_uploaded_at_once_are_both_kept(broker):
    ids = []
    for pair in range(PAIRS):
        slug = f"pair-{pair}"
        dates = (2024, 2024 + pair % 2)  # the same first day, or a later one
        both = together(
            *[_upload(_given(slug, text_of(f"{slug} {n}"), first)) for n, first in enumerate(dates)]
        )
        assert all(isinstance(one, actions.Received) for one in both), both
        ids += [one.version_id for one in both if isinstance(one, actions.Received)]
        assert {one.number for one in both if isinstance(one, actions.Received)} == {1, 2}
        while broker.messages:
            batch = broker.messages[:2]
            del broker.messages[:2]
            together(*[_run(name, args) for name, args in batch])
    journey.recover(broker)

    assert violations(received=ids) == []
    assert set(_states(ids)) == {VersionState.PUBLISHED, VersionState.FAILED}
    failed = [v for v in map(factories.version, ids) if v.state == VersionState.FAILED]
    assert len(failed) == PAIRS // 2  # of those that begin on one day, one was first
    assert all("already starts on" in version.detail.failure for version in failed)
    assert all(_shown(f"pair-{pair}") == SECTIONS for pair in range(PAIRS))


def test_the_same_bytes_uploaded_at_once_are_one_version(broker):
    for pair in range(5):
        given = _given(f"same-{pair}", text_of("same"))
        both = together(_upload(given), _upload(given))
        assert {one.version_id for one in both if isinstance(one, actions.Received)} == {
            both[0].version_id  # type: ignore[attr-defined]  # Received, or the set is larger
        }
    with access.editing():
        assert PolicyVersion.objects.count() == 5


def test_of_two_approvals_at_once_exactly_one_wins(broker):
    version = _awaiting(broker, "approved")
    one, other = (factories.user(), factories.user())

    results = together(
        *[partial(actions.approve_version, version.pk, reviewer=p) for p in (one, other)]
    )
    journey.work(broker)

    assert [type(result) for result in results if result] == [TransitionError]
    assert journey.state_of(version.pk) == VersionState.PUBLISHED
    with access.editing():
        winner = VersionDetail.objects.get(pk=version.pk).approved_by_id
    assert winner == (one, other)[results.index(None)].pk
    assert violations(received=[version.pk]) == []


def test_of_an_approval_and_a_new_reading_at_once_exactly_one_wins(broker):
    for _ in range(5):
        version = _awaiting(broker, f"either-{_}")
        with access.editing():
            lifecycle.transition(version.pk, VersionState.INDEXING)
        pipeline.fail_version(version.pk, "The model is missing.", is_retryable=True)

        results = together(
            partial(actions.approve_version, version.pk, reviewer=None),
            partial(actions.retry_version, version.pk, actor=None),
        )
        journey.work(broker)

        assert sum(result is None for result in results) == 1, results
        assert isinstance(next(filter(None, results)), DocumentsError)
        expected = VersionState.AWAITING_APPROVAL if results[0] else VersionState.PUBLISHED
        assert journey.state_of(version.pk) == expected
    assert violations() == []


def test_a_version_that_is_rejected_while_it_is_approved_is_never_shown(broker):
    for number in range(5):
        version = _awaiting(broker, f"refused-{number}")

        results = together(
            partial(actions.approve_version, version.pk, reviewer=None),
            partial(actions.reject_version, version.pk, reviewer=None, note="no"),
        )
        journey.work(broker)

        # Approved first, it may still be turned down while it is embedded; not the other way.
        assert results[1] is None
        assert results[0] is None or isinstance(results[0], TransitionError)
        assert journey.state_of(version.pk) == VersionState.REJECTED
        assert _shown(f"refused-{number}") == 0
    assert violations() == []


def test_a_publication_and_a_withdrawal_at_once_leave_nothing_readable(broker):
    for number in range(5):
        slug = f"gone-{number}"
        version = _awaiting(broker, slug)
        actions.approve_version(version.pk, reviewer=None)
        for batch in pipeline.batches_to_embed(version.pk):
            pipeline.embed_chunks(version.pk, batch)

        results = together(
            partial(pipeline.publish_version, version.pk),
            partial(actions.withdraw_version, version.pk, actor=None, note="in error"),
        )
        journey.work(broker)

        assert results[0] is None
        assert (_shown(slug) == 0) is (results[1] is None)
        assert isinstance(results[1], TransitionError | None)
    assert violations() == []


# People while a worker embeds


@contextmanager
def _while_embedding(broker: Broker, slug: str) -> Iterator[PolicyVersion]:
    """Do the block between the model's work and the writing of its vectors."""
    version = _awaiting(broker, slug)
    actions.approve_version(version.pk, reviewer=None)
    reached, go_on = threading.Event(), threading.Event()
    inner = embedding.encode_passages

    def slow(*args: object, **more: object) -> object:
        vectors = inner(*args, **more)  # type: ignore[arg-type]  # passed on as they came
        reached.set()
        go_on.wait(30)
        return vectors

    def run() -> None:
        try:
            journey.work(broker)
        finally:
            connection.close()

    with mock.patch.object(embedding, "encode_passages", slow):
        worker = threading.Thread(target=run)
        worker.start()
        assert reached.wait(30)
        try:
            yield version
        finally:
            go_on.set()
            worker.join()


def test_labels_changed_while_indexing_hold_from_the_first_moment(broker):
    with _while_embedding(broker, "secret") as version:
        actions.set_version_labels(version.pk, ["hr"], actor=None)

    assert journey.state_of(version.pk) == VersionState.PUBLISHED
    assert (_shown("secret"), _shown("secret", "hr")) == (0, SECTIONS)
    with access.editing():
        classes = Chunk.objects.filter(version=version).values_list("access_class", flat=True)
        of_terms = ChunkTerms.objects.filter(chunk__version=version)
        assert set(classes) == set(of_terms.values_list("access_class", flat=True))
    assert violations(received=[version.pk]) == []


def test_a_section_restricted_while_indexing_is_never_shown(broker):
    with _while_embedding(broker, "annex") as version:
        with access.editing():
            section = version.sections.order_by("-ordinal")[0]
        actions.set_section_labels(section.pk, ["hr"], actor=None)

    assert (_shown("annex"), _shown("annex", "hr")) == (SECTIONS - 1, 1)
    assert violations(received=[version.pk]) == []


def test_what_is_deleted_while_embedding_leaves_nothing_behind(broker):
    with _while_embedding(broker, "deleted") as version:
        deletion.delete_version(version.pk, typed=version.policy.title, actor=None)
    journey.recover(broker)

    with access.editing():
        assert not PolicyVersion.objects.filter(pk=version.pk).exists()
    assert violations() == []


def test_what_is_deleted_while_it_is_read_leaves_nothing_behind(broker):
    received = actions.upload(_given("read", text_of("read")), actor=None)
    version = factories.version(received.version_id)
    inner = factories._parse_here

    def delete_meanwhile(*args, **more):
        together(
            lambda: deletion.delete_policy(
                version.policy_id, typed=version.policy.title, actor=None
            )
        )
        return inner(*args, **more)

    with mock.patch.object(pipeline, "read_confined", delete_meanwhile):
        journey.work(broker)
    journey.recover(broker)

    with access.editing():
        assert not PolicyVersion.objects.exists()
    assert violations() == []


# Clocks and sweepers


def _shift(version_id: int, hours: int) -> None:
    """As written by a process whose clock is wrong by so much."""
    then = Func(function="now") + datetime.timedelta(hours=hours)
    with access.editing():
        PolicyVersion.objects.filter(pk=version_id).update(updated_at=then)
        VersionDetail.objects.filter(pk=version_id).update(queued_at=then)


@pytest.mark.parametrize("hours", [-24, 1, 24 * 365])
def test_a_row_written_by_a_wrong_clock_is_swept_all_the_same(broker, hours):
    received = actions.upload(_given("clock", text_of("clock")), actor=None)
    broker.messages.clear()
    _shift(received.version_id, hours)

    journey.recover(broker)

    assert journey.state_of(received.version_id) == VersionState.PUBLISHED


def test_a_worker_whose_clock_is_ahead_leaves_the_runs_of_others_alone(broker):
    import time_machine

    received = actions.upload(_given("ahead", text_of("ahead")), actor=None)
    assert pipeline._claim(received.version_id) is not None

    with time_machine.travel(datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)):
        assert pipeline._claim(received.version_id) is None
        assert sweeping.requeue_due(10) == 0

    assert journey.state_of(received.version_id) == VersionState.PARSING


def test_two_sweepers_at_once_queue_each_version_once(broker):
    ids = [
        actions.upload(_given(f"s{n}", text_of(f"s{n}")), actor=None).version_id for n in range(6)
    ]
    broker.messages.clear()
    for pk in ids:
        _shift(pk, -1)

    counts = together(*[lambda: sweeping.requeue_due(100)] * 4)

    assert sum(count for count in counts if isinstance(count, int)) == len(ids)
    assert sorted(args[0] for _, args in broker.messages) == ids


def test_a_sweep_takes_those_that_wait_longest_and_no_more_than_there_is_room_for(broker):
    ids = [
        actions.upload(_given(f"r{n}", text_of(f"r{n}")), actor=None).version_id for n in range(5)
    ]
    broker.messages.clear()
    for hours, pk in enumerate(ids, 1):
        _shift(pk, -hours)

    assert sweeping.requeue_due(2) == 2
    assert sorted(args[0] for _, args in broker.messages) == sorted(ids[-2:])
    assert sweeping.requeue_due(0) == 0
    assert sweeping.requeue_due(100) == 3


def test_batches_that_wait_in_a_long_queue_are_no_tries(broker):
    """Each start of a run is a minute after the one before; no batch has had its turn yet."""
    received = actions.upload(_given("behind", text_of("behind")), actor=None)
    name, args = broker.messages.pop(0)
    _run(name, args)()
    for _ in range(10):
        _shift(received.version_id, -1)
        _run("index_version", [received.version_id])()
    journey.work(broker)

    assert journey.state_of(received.version_id) == VersionState.PUBLISHED
    assert violations(received=[received.version_id]) == []


def test_batches_that_get_nowhere_are_given_up_after_three_runs(broker):
    version = _awaiting(broker, "nowhere")
    actions.approve_version(version.pk, reviewer=None)
    broken = mock.patch.object(embedding, "encode_passages", side_effect=MemoryError)
    with broken:
        for _ in range(4):
            _shift(version.pk, -1)
            _run("index_version", [version.pk])()
            journey.work(broker)

    failed = factories.version(version.pk)
    assert failed.state == VersionState.FAILED
    assert failed.detail.failure == (
        "Given up after 3 tries. Embedding ended with MemoryError: the worker's log says more."
    )


def test_waiting_in_a_long_queue_is_no_try(broker):
    received = actions.upload(_given("queued", text_of("queued")), actor=None)
    for _ in range(20):
        broker.messages.clear()
        _shift(received.version_id, -1)
        assert sweeping.requeue_due(10) == 1
    journey.work(broker)

    assert journey.state_of(received.version_id) == VersionState.PUBLISHED
