"""What must hold whatever died on the way: the invariants I1 to I8 of the threat model.

`violations` looks at the whole database and the whole store, as the system; it is called while
nothing moves, or with `is_settled=False` while work is under way. Each violation is a sentence
that begins with the invariant's name. I5 and I8 are about answers: the rows of answers are
checked here, streams by `of_stream`. I7 (a ledger of budgets) has nothing to check yet: there
is no ledger in this release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from django.conf import settings
from django.db import connection

from documents import access, stored_files
from documents.ingestion import store
from documents.models import ChunkTerms, PolicyVersion, VersionDetail, VersionState
from qa.models import OutcomeRecord, QuestionText

RESTING = {
    VersionState.HELD,
    VersionState.AWAITING_APPROVAL,
    VersionState.PUBLISHED,
    VersionState.WITHDRAWN,
    VersionState.FAILED,
    VersionState.REJECTED,
}
TERMINAL_EVENTS = {"answer", "refused", "retracted", "error"}
_ORPHANS = (
    ("documents_chunk", "version_id", "documents_policyversion"),
    ("documents_section", "version_id", "documents_policyversion"),
    ("documents_finding", "version_id", "documents_policyversion"),
    ("documents_versiondetail", "version_id", "documents_policyversion"),
    ("documents_policyversion", "policy_id", "documents_policy"),
    ("documents_chunkterms", "chunk_id", "documents_chunk"),
)


def violations(
    *, received: Sequence[int] = (), only: Sequence[int] = (), is_settled: bool = True
) -> list[str]:
    """Every invariant that does not hold, in words.

    Args:
        only: ids of the versions to look at; empty: everything there is.
        received: ids of the versions of which somebody was told that they were received.
        is_settled: nothing is under way: no version may move, and every file has its row.
    """
    with access.editing():
        rows = PolicyVersion.objects.select_related("detail", "policy")
        versions = list(rows.filter(pk__in=only) if only else rows)
        found = [*_kept(versions, received, is_settled), *_whole(versions), *_once(versions)]
        found += _one_in_force()
        if not only:
            found += [*_no_orphans(is_settled), *_statistics(), *_answers()]
    return found


def _kept(
    versions: Sequence[PolicyVersion], received: Sequence[int], is_settled: bool
) -> Iterator[str]:
    """I1: what was received is there with its bytes, and rests or moves."""
    there = {version.pk: version for version in versions}
    for pk in received:
        if pk not in there:
            yield f"I1: version {pk} was received and is gone"
    for version in there.values():
        if not store.is_sound(settings.FILES_DIR, version.detail.file_sha256):
            yield f"I1: version {version.pk} lacks its file"
        if is_settled and version.state not in RESTING:
            yield f"I1: version {version.pk} still is {version.state}"
        if version.state == VersionState.FAILED and not version.detail.failure:
            yield f"I1: version {version.pk} failed without a reason"


def _whole(versions: Sequence[PolicyVersion]) -> Iterator[str]:
    """I2: a version has readable passages only when it is published, approved and whole."""
    for version in versions:
        chunks = version.chunks.all()
        shown = chunks.filter(effective_from__isnull=False)
        if version.state != VersionState.PUBLISHED:
            if shown.exists() or ChunkTerms.objects.filter(chunk__version=version).exists():
                yield f"I2: version {version.pk} is {version.state} and has readable passages"
            continue
        detail: VersionDetail = version.detail
        expected = chunks.filter(state__in=("ready", "released")).count()
        if chunks.count() != detail.chunk_count or shown.count() != expected:
            yield f"I2: version {version.pk} shows {shown.count()} of {detail.chunk_count}"
        if ChunkTerms.objects.filter(chunk__in=shown).count() != expected:
            yield f"I2: version {version.pk} lacks term rows"
        models = set(shown.values_list("embedding_model", flat=True))
        if version.language == "en" and (
            len(models) > 1 or shown.filter(embedding__isnull=True).exists()
        ):
            yield f"I2: version {version.pk} has vectors of {sorted(models)} or none"
        if settings.APPROVAL != "none" and detail.approved_at is None:
            yield f"I2: version {version.pk} is published and not approved"


def _once(versions: Sequence[PolicyVersion]) -> Iterator[str]:
    """I3: one passage a place, in order, and each is its slice of the text."""
    for version in versions:
        rows = list(
            version.chunks.order_by("ordinal").values_list("ordinal", "start", "end", "text")
        )
        if [row[0] for row in rows] != list(range(len(rows))):
            yield f"I3: version {version.pk} has the places {[row[0] for row in rows]}"
        text = version.detail.canonical_text
        if any(text[start:end] != slice_ for _, start, end, slice_ in rows):
            yield f"I3: version {version.pk} has a passage that is not its slice"


def _one_in_force() -> Iterator[str]:
    """I4: at most one version of a policy on any day."""
    published = PolicyVersion.objects.filter(state=VersionState.PUBLISHED)
    by_policy: dict[int, list[PolicyVersion]] = {}
    for version in published.order_by("effective__startswith"):
        by_policy.setdefault(version.policy_id, []).append(version)
    for versions in by_policy.values():
        for one, other in pairwise(versions):
            if one.effective.upper is None or one.effective.upper > other.effective.lower:
                yield f"I4: versions {one.pk} and {other.pk} are both in force"


def _no_orphans(is_settled: bool) -> Iterator[str]:
    """I6: no passage without version, no row without file; settled: no file without row."""
    with connection.cursor() as cursor:
        for child, column, parent in _ORPHANS:
            cursor.execute(
                f"select count(*) from {child} c where not exists"  # noqa: S608 - names above
                f" (select from {parent} p where p.id = c.{column})"
            )
            row = cursor.fetchone()
            if row and row[0]:
                yield f"I6: {row[0]} rows of {child} without their {parent}"
    report = stored_files.compare()
    if report.missing:
        yield f"I6: {len(report.missing)} rows without their file"
    if is_settled and report.strays:
        yield f"I6: {len(report.strays)} files without a row"


def _statistics() -> Iterator[str]:
    """What searches count is what there is: totals and changes add up to the term rows."""
    expected: Counter[tuple[int, int]] = Counter()
    rows = ChunkTerms.objects.filter(is_counted=True).values_list("access_class", "terms")
    for access_class, terms in rows:
        expected.update((term, access_class) for term in [0, *terms])
    with connection.cursor() as cursor:
        cursor.execute(
            "select term, access_class, sum(df)::bigint from"
            " (select term, access_class, df from documents_termstat union all"
            "  select term, access_class, df from documents_termdelta) as counted"
            " group by term, access_class having sum(df) <> 0"
        )
        counted = {(term, access_class): df for term, access_class, df in cursor.fetchall()}
    if counted != dict(expected):
        wrong = {
            key for key in counted.keys() | expected.keys() if counted.get(key, 0) != expected[key]
        }
        yield f"I2: the statistics are wrong for {len(wrong)} terms"


def _answers() -> Iterator[str]:
    """I5: each answer that was shown names what it rests on and the steps that it passed."""
    answered = OutcomeRecord.objects.filter(status="answered").select_related("question")
    for outcome in answered:
        steps = {step["name"] for step in outcome.steps if step["status"] == "ok"}
        if not steps >= {"retrieve", "gate", "verify"}:
            yield f"I5: answer {outcome.pk} records the steps {sorted(steps)} alone"
        words = QuestionText.objects.filter(pk=outcome.pk).first()
        if words is not None and not words.chunk_ids:
            yield f"I5: answer {outcome.pk} rests on nothing"


def of_stream(events: Sequence[str]) -> list[str]:
    """I8: no answer text before it is verified, and exactly one terminal event, last."""
    terminal = [event for event in events if event in TERMINAL_EVENTS]
    found = []
    if len(terminal) != 1 or events[-1] not in TERMINAL_EVENTS:
        found.append(f"I8: the stream ended with {terminal or 'nothing'}")
    if "claim" in events and "sources" not in events[: events.index("claim")]:
        found.append("I8: a claim came before its sources")
    return found
