"""What we hold: policies and versions, sections and chunks, labels and grants, findings, audit."""

from documents.models.audit import AuditEvent
from documents.models.chunk import Chunk, ChunkTerms, Section, SectionText, TermDelta, TermStat
from documents.models.grant import AccessClass, AccessLabel, LabelGrant, ManagedDepartment
from documents.models.policy import (
    PageLayout,
    Policy,
    PolicyVersion,
    VersionDetail,
    VersionState,
)
from documents.models.screening import AllowedDomain, Finding

__all__ = [
    "AccessClass",
    "AccessLabel",
    "AllowedDomain",
    "AuditEvent",
    "Chunk",
    "ChunkTerms",
    "Finding",
    "LabelGrant",
    "ManagedDepartment",
    "PageLayout",
    "Policy",
    "PolicyVersion",
    "Section",
    "SectionText",
    "TermDelta",
    "TermStat",
    "VersionDetail",
    "VersionState",
]
