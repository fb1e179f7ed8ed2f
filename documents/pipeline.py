"""The steps from an uploaded file to a published version, in order.

parse -> structure -> chunk -> screen -> (review) -> embed -> publish. Each function may run
twice without harm: a run that finds the version elsewhere leaves at once. No transaction and
no database connection is held while a file is parsed or a model runs.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from billiard.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from pgvector import SparseVector

from documents import (
    access,
    content,
    differences,
    embedding,
    heartbeat,
    hooks,
    kept_decisions,
    labelling,
    lifecycle,
    queue,
    vectors,
)
from documents.errors import EmbeddingError, ParseError, TransitionError, ValidationProblem
from documents.ingestion import analysis, screen, store
from documents.ingestion.confined.limits import Limits
from documents.ingestion.confined.reading import read_confined
from documents.ingestion.parsers.progress import Progress, no_progress
from documents.ingestion.process import Parse, process_document
from documents.models import (
    AccessLabel,
    Chunk,
    ChunkTerms,
    Policy,
    PolicyVersion,
    VersionDetail,
    VersionState,
)
from documents.models.chunk import TERM_SPACE
from documents.records import (
    ChunkRecord,
    FindingRecord,
    ParsedDocument,
    ProcessedDocument,
    SectionRecord,
)

logger = logging.getLogger(__name__)

LABELS_LOST = (
    "A section with labels of its own was not found again. Upload the file as a new version "
    "and label it."
)
FILE_LOST = "The stored file is missing or was altered. Upload it again."
TOO_SLOW = (
    "Reading it took longer than a task may ({minutes} minutes). Split the file, or raise "
    "LEGALQA_TASK_TIME_LIMIT_SECONDS, and try it again."
)
UNEXPECTED = (
    "Reading it failed unexpectedly ({name}). Try it again; if that fails too, hand the file to "
    "whoever runs this site."
)
_WORKER_LOST = "The worker ended each time: its log says more."
_UNREAD = (VersionState.RECEIVED, VersionState.PARSING, VersionState.SCREENING)


@dataclass(frozen=True, slots=True)
class _Job:
    """What one run of ingestion works on; `attempt` fences off an older run."""

    version_id: int
    attempt: int
    queued_at: datetime.datetime
    sha256: str
    file_name: str
    title: str

    @property
    def still(self) -> Q:
        """Versions that this run is the last to work on."""
        return Q(
            state=VersionState.PARSING,
            detail__attempts=self.attempt,
            detail__queued_at=self.queued_at,
        )


def process_file(
    data: bytes, *, file_name: str, title: str | None, progress: Progress = no_progress
) -> ProcessedDocument:
    """Run the pure steps over a file with the configured screening, tokenizer and limits.

    The file itself is read in a child process; `progress` hears how far that is.

    Raises:
        ParseError: the file gives no usable text.
    """
    screening = screen.screen_document if settings.SCREENING else _screen_nothing
    return process_document(
        data,
        file_name=file_name,
        title=title,
        count_tokens=embedding.count_tokens,
        screen=screening,
        parse=reader(progress),
    )


def reader(progress: Progress) -> Parse:
    """What reads one file in a child process, within the limits of the settings."""
    limits = Limits(
        cpu_seconds=settings.PARSE_CPU_SECONDS,
        memory_mb=settings.PARSE_MEMORY_MB,
        output_mb=settings.PARSE_OUTPUT_MB,
    )
    return partial(
        read_confined, limits=limits, ocr_max_pages=settings.OCR_MAX_PAGES, progress=progress
    )


def _screen_nothing(
    parsed: ParsedDocument,
    sections: Sequence[SectionRecord],
    chunks: Sequence[ChunkRecord],
    title: str,
    file_name: str,
) -> tuple[FindingRecord, ...]:
    return ()


def ingest_version(version_id: int) -> None:
    """Parse, section, chunk and screen a version; ends held, awaiting approval, or failed.

    What may heal (a full disk, no memory) leaves the version to the sweeper, which has it tried
    again until `MAX_INGEST_ATTEMPTS`.
    """
    job = _claim(version_id)
    if job is None:
        return
    try:
        _store(job, _read(job))
    except ParseError as error:
        fail_version(version_id, error.message, is_retryable=False, attempt=job.attempt)
    except (OperationalError, InterfaceError):
        raise  # the database will be back: the task tries again
    except SoftTimeLimitExceeded:
        reason = TOO_SLOW.format(minutes=settings.CELERY_TASK_TIME_LIMIT // 60)
        fail_version(version_id, reason, is_retryable=True, attempt=job.attempt)
    except (OSError, MemoryError) as error:
        note_trouble(version_id, f"The last try ended with: {_named(error)}.")
        raise
    except Exception as error:
        reason = UNEXPECTED.format(name=type(error).__name__)
        fail_version(version_id, reason, is_retryable=True, attempt=job.attempt)
        raise


def _claim(version_id: int) -> _Job | None:
    """Take a version that waits to be parsed; None when another run has it or is past it."""
    with access.editing():
        version = lifecycle.lock(version_id)
        detail = VersionDetail.objects.get(version=version)
        if version.state not in _UNREAD:
            return None
        if version.state != VersionState.RECEIVED and not lifecycle.is_stale(version_id):
            return None
        if _is_given_up(detail):
            return None
        lifecycle.transition(version_id, VersionState.PARSING)
        detail.attempts += 1
        detail.save(update_fields=["attempts"])
        return _Job(
            version_id,
            detail.attempts,
            detail.queued_at,
            detail.file_sha256,
            detail.file_name,
            version.policy.title,
        )


def _is_given_up(detail: VersionDetail) -> bool:
    """Whether a version had its tries; it fails then, with what is known of the last one."""
    if detail.attempts < settings.MAX_INGEST_ATTEMPTS:
        return False
    reason = f"Given up after {detail.attempts} tries. {detail.failure or _WORKER_LOST}"
    fail_version(detail.version_id, reason, is_retryable=True)
    return True


def _read(job: _Job) -> ProcessedDocument:
    with heartbeat.beating(job.version_id, job.still):
        try:
            data = store.load(settings.FILES_DIR, job.sha256)
        except FileNotFoundError as error:
            raise ParseError(FILE_LOST) from error
        return process_file(data, file_name=job.file_name, title=job.title)


def _named(error: Exception) -> str:
    """An error as staff may see it: the system's own words, without paths."""
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def note_trouble(version_id: int, reason: str) -> None:
    """Keep why a try ended, should it be the last."""
    with access.editing():
        VersionDetail.objects.filter(pk=version_id, version__state__in=lifecycle.MOVING).update(
            failure=reason[:500]
        )


def _store(job: _Job, processed: ProcessedDocument) -> None:
    """Write sections, chunks and findings, and move on, in one transaction."""
    with access.editing():
        version = lifecycle.lock(job.version_id)
        detail = VersionDetail.objects.get(version=version)
        if not PolicyVersion.objects.filter(job.still, pk=job.version_id).exists():
            return  # a later run has taken over
        kept = kept_decisions.decisions_of(version)
        own_labels = labelling.own_labels(version) or labelling.carried_to(
            detail.carried_labels, processed.sections
        )
        if not own_labels.keys() <= set(map(labelling.mark_of, processed.sections)):
            fail_version(job.version_id, LABELS_LOST, is_retryable=False, attempt=job.attempt)
            return
        lifecycle.transition(job.version_id, VersionState.SCREENING)
        version.refresh_from_db()
        content.replace_all(version, detail, processed)
        labelling.restore_labels(version, own_labels)
        kept_decisions.restore_decisions(version, kept)
        has_open = kept_decisions.has_open_findings(version)
        # A finding in the title, the file name, hidden text or a script has no passage to hold.
        has_loose = has_open and kept_decisions.has_open_findings(version, loose_only=True)
        is_held = has_loose or (has_open and settings.HOLD_VERSION_ON_FINDING)
        lifecycle.transition(
            job.version_id, VersionState.HELD if is_held else VersionState.AWAITING_APPROVAL
        )
        # "none" publishes clean versions by itself; a finding still waits for a person.
        is_clean = settings.APPROVAL == "none" and not has_open
        # What nobody read, or what would open a section that was closed, waits for a person too.
        is_whole = (
            not detail.unread_pages
            and detail.chunk_count > 0
            and not differences.opened_sections(version)
        )
        if not is_held and is_whole and (detail.publish_when_ready or is_clean):
            begin_indexing(job.version_id)


def fail_version(
    version_id: int,
    reason: str,
    *,
    is_retryable: bool,
    attempt: int | None = None,
    during: VersionState | None = None,
) -> None:
    """End a version as failed, with a reason that its owner sees.

    Nothing happens where the version rests, a later `attempt` works on it, or it is not in the
    state `during` which the reason came up.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        detail = VersionDetail.objects.get(version=version)
        if attempt is not None and detail.attempts != attempt:
            return
        if version.state not in lifecycle.MOVING or during not in (None, version.state):
            return
        detail.failure = reason[:500]
        detail.is_retryable = is_retryable
        detail.save(update_fields=["failure", "is_retryable"])
        lifecycle.transition(version_id, VersionState.FAILED, detail={"reason": reason[:500]})


def begin_indexing(version_id: int) -> None:
    """Move an approved version to indexing and queue its embedding when this commits."""
    lifecycle.transition(version_id, VersionState.INDEXING)
    VersionDetail.objects.filter(pk=version_id).update(attempts=0, queued_at=Now())
    queue.enqueue("index_version", version_id)


def claim_indexing(version_id: int) -> int | None:
    """The number of a run that embeds a version; None: another began lately, or it was given up.

    The run counts as a try once one of its batches begins, or its publication (`note_run`), and
    no longer once one gave vectors (`embed_chunks`). So only passages on which workers end are
    given up, however long the version is, or the queue in which its messages wait.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        detail = VersionDetail.objects.get(version=version)
        if version.state != VersionState.INDEXING:
            return None
        touched = PolicyVersion.objects.filter(pk=version_id, updated_at__gt=detail.queued_at)
        if touched.exists() and not lifecycle.is_stale(version_id):
            return None
        if _is_given_up(detail):
            return None
        lifecycle.touch(version_id)
        return detail.attempts + 1


def note_run(version_id: int, run: int) -> None:
    """Count a run that has begun to do something; each of its batches may say so."""
    with access.editing():
        VersionDetail.objects.filter(
            pk=version_id, version__state=VersionState.INDEXING, attempts__lt=run
        ).update(attempts=run)


def batches_to_embed(version_id: int) -> list[list[int]]:
    """The ids of the chunks of an indexing version that lack a vector, in batches."""
    with access.editing():
        version = PolicyVersion.objects.get(pk=version_id)
        if version.state != VersionState.INDEXING:
            return []
        index = vectors.active_for(version.language)
        if index is None:
            return []  # no model reads this language: the lexical leg alone finds it
        lacking = vectors.lacking(version.chunks.all(), index)
        ids = list(lacking.order_by("ordinal").values_list("pk", flat=True))
    size = settings.EMBED_BATCH_CHUNKS
    return [ids[i : i + size] for i in range(0, len(ids), size)]


def embed_chunks(version_id: int, chunk_ids: Sequence[int], *, run: int = 0) -> bool:
    """Give those of these chunks their vectors that lack them; True when none is left without.

    Args:
        version_id: internal id of the version.
        chunk_ids: those of its passages that are this batch.
        run: from `claim_indexing`; 0: not counted as a try.

    Raises:
        EmbeddingError: the model is missing or gave bad vectors.
    """
    with access.editing():
        version = PolicyVersion.objects.get(pk=version_id)
        index = vectors.active_for(version.language)
        if version.state != VersionState.INDEXING or index is None:
            return False
        wanted = Chunk.objects.filter(pk__in=chunk_ids, version=version).select_related("section")
        chunks = list(vectors.lacking(wanted, index))
        built = vectors.built_for(version.language)
        unbuilt = list(vectors.lacking(wanted, built)) if built else []
        if chunks:
            note_run(version_id, run)
    with heartbeat.beating(version_id, Q(state=VersionState.INDEXING)):
        made = _encoded(chunks, version.language, index)
        made_beside = _encoded_beside(unbuilt, version.language, built)
    with access.editing():
        version = lifecycle.lock(version_id)
        if version.state != VersionState.INDEXING:
            return False
        if made is not None:
            vectors.write(chunks, made, index)
        if made_beside is not None and built is not None and vectors.is_being_built(built):
            vectors.write(unbuilt, made_beside, built)
        return _record_progress(version, index, has_moved=bool(chunks))


def _encoded(
    chunks: Sequence[Chunk], language: str, index: vectors.Index
) -> vectors.Vectors | None:
    if not chunks:
        return None
    texts = [embedded_text(chunk) for chunk in chunks]
    return embedding.encode_passages(texts, language, source=index.source)


def _encoded_beside(
    chunks: Sequence[Chunk], language: str, built: vectors.Index | None
) -> vectors.Vectors | None:
    """Vectors for the index that is being built; one that fails holds up no publication."""
    if built is None:
        return None
    try:
        return _encoded(chunks, language, built)
    except EmbeddingError as error:
        logger.warning("No vectors for the index that is being built: %s", error.message)
        return None


def _record_progress(version: PolicyVersion, index: vectors.Index, *, has_moved: bool) -> bool:
    """Note how many chunks have vectors; True when all do.

    A version that goes forward is neither swept nor given up, however long it is.
    """
    left = vectors.lacking(version.chunks.all(), index).count()
    detail = VersionDetail.objects.get(version=version)
    detail.embedded_count = detail.chunk_count - left
    if has_moved:
        detail.attempts = 0
        lifecycle.touch(version.pk)
    detail.save(update_fields=["embedded_count", "attempts"])
    return left == 0


def embedded_text(chunk: Chunk) -> str:
    """What the model reads: the section's own heading, if it has one, and the text.

    A longer prefix (policy title, path) lowers recall with the default model (DESIGN §7).
    """
    return f"{chunk.section.title}\n{chunk.text}" if chunk.section.title else chunk.text


def searched_text(chunk: Chunk, policy: Policy) -> str:
    """What the lexical leg indexes: policy title, section path and the text."""
    return "\n".join([policy.title, *chunk.section.path, chunk.text])


def terms_of(chunk: Chunk, version: PolicyVersion, *, today: datetime.date) -> ChunkTerms:
    """The unsaved term row of a chunk that has its dates; counted from its first day on.

    Raises:
        ValueError: it has none.
    """
    if chunk.effective_from is None:
        raise ValueError("a chunk without dates has no term row")
    weights = analysis.index_weights(searched_text(chunk, version.policy), version.language)
    return ChunkTerms(
        chunk=chunk,
        access_class=chunk.access_class_id,
        effective_from=chunk.effective_from,
        effective_to=chunk.effective_to,
        is_counted=chunk.effective_from <= today,
        terms=sorted(weights),
        # a SparseVector counts from 0, its column from 1
        weights=SparseVector({term - 1: weight for term, weight in weights.items()}, TERM_SPACE),
    )


def publish_version(version_id: int) -> None:
    """Make an indexed version visible and close the one before, in one transaction.

    One of which a passage still lacks its vector is embedded first.
    """
    with access.editing():
        version = lifecycle.lock(version_id)
        if version.state != VersionState.INDEXING:
            return
        Policy.objects.select_for_update().get(pk=version.policy_id)
        vectors.hold_still()
        if _lacks_vectors(version):  # another model became the active one meanwhile
            queue.enqueue("index_version", version_id)
            return
        problem = _why_not_publish(version)
        if problem:
            detail = VersionDetail.objects.get(version=version)
            detail.failure = problem
            detail.save(update_fields=["failure"])
            lifecycle.transition(version_id, VersionState.FAILED, detail={"reason": problem})
            return
        VersionDetail.objects.filter(pk=version_id).update(
            embedded_count=F("chunk_count"), failure=""
        )
        _make_room(version)
        version.refresh_from_db()
        lifecycle.transition(version_id, VersionState.PUBLISHED)
        show_chunks(version, version.chunks.filter(state__in=["ready", "released"]))


def index_here(version_id: int) -> None:
    """Embed and publish an approved version in this process, as the workers would.

    Raises:
        EmbeddingError: the model is missing or gave bad vectors.
    """
    for batch in batches_to_embed(version_id):
        embed_chunks(version_id, batch)
    publish_version(version_id)


def _lacks_vectors(version: PolicyVersion) -> bool:
    index = vectors.active_for(version.language)
    return index is not None and vectors.lacking(version.chunks.all(), index).exists()


def _why_not_publish(version: PolicyVersion) -> str | None:
    if not version.labels.filter(role=AccessLabel.Role.AUDIENCE).exists():
        return "The version has no audience label: set its labels, then approve it again."
    if version.effective is None:
        return "The version has no first day in force: set it, then approve it again."
    try:
        first, last = access.effective_days(version)
        check_dates(version.policy, first, last, besides=version.pk)
    except ValidationProblem as error:  # another was published on that day since approval
        return error.message
    if version.chunks.count() != version.detail.chunk_count:
        return "Passages of the version are missing. Try it again, so that its file is read anew."
    for hook in hooks.before_publish:
        if reason := hook(version.pk):
            return reason
    return None


def _make_room(version: PolicyVersion) -> None:
    """Close the version in force on the first day, and end this one where the next begins.

    A version that starts on D closes the one before at D; one dated back takes
    [D, start of the next). What would leave a range empty is refused before indexing
    (`actions.check_dates`), and again here by the exclusion constraint.
    """
    first = version.effective.lower
    # Locked, so that nobody retires, withdraws or releases a passage of it meanwhile.
    others = PolicyVersion.objects.select_for_update(of=("self",)).filter(
        policy_id=version.policy_id, state=VersionState.PUBLISHED
    )
    earlier = others.filter(effective__contains=first).first()
    if earlier is not None and earlier.effective.lower < first:
        close_version(earlier, last_day=first - datetime.timedelta(days=1))
    later = others.filter(effective__startswith__gt=first).order_by("effective__startswith").first()
    if later is not None and (
        version.effective.upper is None or version.effective.upper > later.effective.lower
    ):
        version.effective = (first, later.effective.lower)
        version.save(update_fields=["effective", "updated_at"])


def close_version(version: PolicyVersion, *, last_day: datetime.date) -> None:
    """Set the last day in force of a published version and of its chunks."""
    version.effective = (version.effective.lower, last_day + datetime.timedelta(days=1))
    version.save(update_fields=["effective", "updated_at"])
    version.chunks.filter(effective_from__isnull=False).update(effective_to=last_day)


def show_chunks(version: PolicyVersion, chunks: QuerySet[Chunk]) -> None:
    """Give chunks of a published version their dates and term rows."""
    first, last = access.effective_days(version)
    shown = list(chunks.select_related("section"))
    for chunk in shown:
        chunk.effective_from = first
        chunk.effective_to = last or datetime.date.max
        chunk.live = chunk.embedding is not None
    Chunk.objects.bulk_update(shown, ["effective_from", "effective_to", "live"], batch_size=500)
    today = access.today()
    ChunkTerms.objects.bulk_create(
        [terms_of(chunk, version, today=today) for chunk in shown], batch_size=200
    )


def hide_chunks(chunks: QuerySet[Chunk]) -> None:
    """Take chunks from readers at once: a trigger removes their term rows and counts."""
    chunks.update(effective_from=None, live=False)


def check_dates(
    policy: Policy, first: datetime.date, last: datetime.date | None, *, besides: int | None = None
) -> None:
    """Refuse dates that would leave a version of this policy without a day in force.

    Raises:
        ValidationProblem: the dates are reversed, or another published version starts that day.
    """
    if last is not None and last < first:
        raise ValidationProblem(
            f"The last day ({last}) lies before the first ({first}).", code="bad_dates"
        )
    if last == datetime.date.max:  # its end, the day after, is no date
        raise ValidationProblem(
            f"{last} is the end of the calendar: leave the last day empty instead.",
            code="bad_dates",
        )
    others = PolicyVersion.objects.filter(policy=policy, state=VersionState.PUBLISHED)
    clash = others.filter(effective__startswith=first).first()
    if clash is not None and clash.pk != besides:
        raise ValidationProblem(
            f"Version {clash.number} already starts on {first}. "
            "Choose another first day, or withdraw that version.",
            code="bad_dates",
        )


def require_state(version: PolicyVersion, *states: VersionState) -> None:
    """Refuse when a version is in none of these states.

    Raises:
        TransitionError: it is in another.
    """
    if version.state not in states:
        raise TransitionError(
            f"The version is {VersionState(version.state).label.lower()}; this needs "
            + " or ".join(state.label.lower() for state in states)
            + "."
        )
