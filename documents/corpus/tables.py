"""Which tables an archive holds, in the order in which they are read back.

Ids are of one database alone, so a row is named by what stays the same elsewhere: a policy by
its slug, a version, section or passage by its public id, a person by their name. What the
database computes by itself (statistics, access classes, last days) is left out, and so is what
tells of the work and not of the corpus (bulk uploads).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import OuterRef, QuerySet

from documents.models import (
    AccessClass,
    AccessLabel,
    AllowedDomain,
    AuditAnchor,
    AuditEvent,
    AuditSeal,
    BatchItem,
    Chunk,
    ChunkTerms,
    ChunkVector,
    DeletedVersion,
    EmbeddingModel,
    Finding,
    ForeignChain,
    ForeignEvent,
    LabelGrant,
    LabelProposal,
    ManagedDepartment,
    MirroredFile,
    PageLayout,
    Policy,
    PolicyVersion,
    ReviewReminder,
    Section,
    SectionText,
    TermDelta,
    TermStat,
    UploadBatch,
    VersionDetail,
    VersionEnd,
)

Model = type[models.Model]


@dataclass(frozen=True, slots=True)
class Table:
    """One table of an archive.

    `order` gives the same order in every installation. `left_out` are columns that are written
    elsewhere or follow from others; `ids_in` maps a column of ids to the model that they are of.
    """

    model: Model
    order: tuple[str, ...]
    left_out: frozenset[str] = frozenset()
    ids_in: dict[str, Model] = field(default_factory=dict)
    is_of_people: bool = False  # grants: only when asked for

    @property
    def member(self) -> str:
        """Its name in the archive."""
        return f"tables/{self.model._meta.model_name}.jsonl"

    @property
    def columns(self) -> list[models.Field[Any, Any]]:
        """The columns that are written as values."""
        return [
            column
            for column in self.model._meta.concrete_fields
            if not column.is_relation
            and column.name not in self.left_out
            and not isinstance(column, models.AutoField)
        ]

    @property
    def references(self) -> list[models.ForeignKey[Any, Any]]:
        """The columns that name a row of another table."""
        return [
            column
            for column in self.model._meta.concrete_fields
            if isinstance(column, models.ForeignKey) and column.name not in self.left_out
        ]

    @property
    def has_labels(self) -> str | None:
        """The name of its column of labels, if it has one."""
        found = self.model._meta.many_to_many
        return found[0].name if found else None

    def rows(self) -> QuerySet[Any]:
        """Its rows, in order, with the names of what they refer to and of their labels."""
        rows = self.model._default_manager.order_by(*self.order)
        if self.has_labels:
            column = self.model._meta.get_field(self.has_labels)
            through = column.remote_field.through  # type: ignore[union-attr]  # many to many
            own = str(self.model._meta.model_name)
            slugs = through.objects.filter(**{own: OuterRef("pk")}).order_by("accesslabel__slug")
            rows = rows.annotate(label_slugs=ArraySubquery(slugs.values("accesslabel__slug")))
        return rows


NATURAL: dict[Model, str] = {
    get_user_model(): "username",
    Group: "name",
    AccessLabel: "slug",
    AccessClass: "key",
    Policy: "slug",
    PolicyVersion: "public_id",
    Section: "public_id",
    Chunk: "public_id",
}
_BY_VERSION = ("version__policy__slug", "version__number")

TABLES: tuple[Table, ...] = (
    Table(AccessLabel, ("slug",)),
    Table(Policy, ("slug",)),
    Table(PolicyVersion, ("policy__slug", "number")),
    Table(DeletedVersion, ("policy__slug", "number")),
    Table(ReviewReminder, ("policy__slug", "review_by", "days_ahead")),
    Table(VersionDetail, _BY_VERSION, left_out=frozenset({"near_duplicates"})),
    Table(Section, (*_BY_VERSION, "ordinal")),
    Table(SectionText, tuple(f"section__{name}" for name in (*_BY_VERSION, "ordinal"))),
    Table(
        Chunk,
        (*_BY_VERSION, "ordinal"),
        left_out=frozenset({"embedding", "embedding_model", "live"}),
    ),
    Table(
        ChunkTerms,
        tuple(f"chunk__{name}" for name in (*_BY_VERSION, "ordinal")),
        left_out=frozenset({"access_class"}),
    ),
    Table(PageLayout, (*_BY_VERSION, "number")),
    Table(Finding, (*_BY_VERSION, "start", "pk")),
    Table(LabelProposal, (*_BY_VERSION, "pk"), ids_in={"sections": Section}),
    Table(MirroredFile, ("mirror", "path")),
    Table(AllowedDomain, ("host",)),
    Table(
        LabelGrant,
        ("label__slug", "group__name", "user__username"),
        is_of_people=True,
    ),
    Table(ManagedDepartment, ("user__username", "department"), is_of_people=True),
)
# Columns whose values are ids inside JSON, written by `writing` in a member of their own.
NEAR_DUPLICATES = "tables/nearduplicates.jsonl"
VECTORS = "tables/vectors.jsonl"

LEFT_OUT: frozenset[Model] = frozenset(
    {
        AccessClass,  # made from labels
        TermStat,
        TermDelta,  # counted by triggers
        VersionEnd,  # kept by a trigger
        ChunkVector,
        EmbeddingModel,  # vectors have a member of their own, wherever they are stored
        AuditEvent,
        AuditSeal,
        AuditAnchor,
        ForeignChain,
        ForeignEvent,  # in the audit trails
        UploadBatch,
        BatchItem,  # the work, not the corpus
    }
)
