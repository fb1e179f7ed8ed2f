"""The one way to read policies.

Every employee-facing read runs inside `reading_as` (`door.py`), which row-level security then
limits to what the reader may see. `passages` puts text together from readable chunks, `search`
finds candidates among them, `originals` says when a page image or file may be given, and
`staff` says what a person may manage.
"""

from documents.access.differences import (
    ReadableComparison,
    chunks_by_section,
    compared,
    readable_comparison,
)
from documents.access.door import (
    Reader,
    Reading,
    class_for,
    editing,
    labels_of,
    on_day,
    reading_as,
    require_labels,
    today,
)
from documents.access.history import Gap, PolicyHistory, VersionDays, history
from documents.access.originals import (
    Original,
    PageView,
    readable_file,
    readable_page,
    readable_pages,
)
from documents.access.passages import (
    CLOSED_CHUNK_FIELDS,
    CLOSED_VERSION_FIELDS,
    Clause,
    ReadableChunk,
    ReadableSection,
    Reference,
    are_readable,
    corpus_revision,
    effective_days,
    joined_chunks,
    past_ends,
    readable_policies,
    readable_section,
    readable_sections,
    sections_of,
    with_references,
)
from documents.access.search import Candidates, Hit, VectorModel, candidates
from documents.access.staff import (
    VersionSummary,
    allowed_hosts,
    manageable,
    managed_departments,
    manages_all,
    policies_awaiting_review,
    version_summary,
)
from documents.ingestion.comparison import ComparedSection

__all__ = [
    "CLOSED_CHUNK_FIELDS",
    "CLOSED_VERSION_FIELDS",
    "Candidates",
    "Clause",
    "ComparedSection",
    "Gap",
    "Hit",
    "Original",
    "PageView",
    "PolicyHistory",
    "ReadableChunk",
    "ReadableComparison",
    "ReadableSection",
    "Reader",
    "Reading",
    "Reference",
    "VectorModel",
    "VersionDays",
    "VersionSummary",
    "allowed_hosts",
    "are_readable",
    "candidates",
    "chunks_by_section",
    "class_for",
    "compared",
    "corpus_revision",
    "editing",
    "effective_days",
    "history",
    "joined_chunks",
    "labels_of",
    "manageable",
    "managed_departments",
    "manages_all",
    "on_day",
    "past_ends",
    "policies_awaiting_review",
    "readable_comparison",
    "readable_file",
    "readable_page",
    "readable_pages",
    "readable_policies",
    "readable_section",
    "readable_sections",
    "reading_as",
    "require_labels",
    "sections_of",
    "today",
    "version_summary",
    "with_references",
]
