"""What we hold: policies and versions, sections and chunks, labels and grants, findings, audit."""

from documents.models.audit import AuditAnchor, AuditEvent, AuditSeal
from documents.models.batch import BatchItem, MirroredFile, UploadBatch
from documents.models.chunk import Chunk, ChunkTerms, Section, SectionText, TermDelta, TermStat
from documents.models.foreign import ForeignChain, ForeignEvent
from documents.models.grant import AccessClass, AccessLabel, LabelGrant, ManagedDepartment
from documents.models.label_change import LabelProposal, VersionEnd
from documents.models.life import DeletedVersion, ReviewReminder
from documents.models.policy import (
    PageLayout,
    Policy,
    PolicyVersion,
    VersionDetail,
    VersionState,
)
from documents.models.screening import AllowedDomain, Finding
from documents.models.vectors import ChunkVector, EmbeddingModel

__all__ = [
    "AccessClass",
    "AccessLabel",
    "AllowedDomain",
    "AuditAnchor",
    "AuditEvent",
    "AuditSeal",
    "BatchItem",
    "Chunk",
    "ChunkTerms",
    "ChunkVector",
    "DeletedVersion",
    "EmbeddingModel",
    "Finding",
    "ForeignChain",
    "ForeignEvent",
    "LabelGrant",
    "LabelProposal",
    "ManagedDepartment",
    "MirroredFile",
    "PageLayout",
    "Policy",
    "PolicyVersion",
    "ReviewReminder",
    "Section",
    "SectionText",
    "TermDelta",
    "TermStat",
    "UploadBatch",
    "VersionDetail",
    "VersionEnd",
    "VersionState",
]
