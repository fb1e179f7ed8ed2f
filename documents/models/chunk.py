"""Sections, chunks, and the term rows and statistics beside them.

A chunk without dates is unpublished and readable by nobody. `ChunkTerms` repeats what the
database filters by, so that hidden candidates never fill the top of the lexical list.
"""

from __future__ import annotations

import datetime
import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from pgvector.django import HalfVectorField, HnswIndex, SparseVectorField

EMBEDDING_DIMENSION = 384
TERM_SPACE = 1_000_000_000  # the most that a sparsevec holds


class Section(models.Model):
    """A heading or numbered clause of one version."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(
        "documents.PolicyVersion", on_delete=models.CASCADE, related_name="sections"
    )
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)
    ordinal = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField()
    number = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 - null: has none
    title = models.TextField(null=True, blank=True)  # noqa: DJ001 - null: an untitled clause
    display_title = models.TextField()
    path = ArrayField(models.TextField())
    start = models.PositiveIntegerField()
    body_start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    pages = ArrayField(models.PositiveIntegerField(), default=list)
    labels = models.ManyToManyField("documents.AccessLabel", blank=True)

    class Meta:
        ordering = ["version", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["version", "ordinal"], name="section_ordinal_once")
        ]

    def __str__(self) -> str:
        return self.number or self.display_title


class SectionText(models.Model):
    """A section's whole text, restricted and quarantined parts included: staff only."""

    section = models.OneToOneField(Section, primary_key=True, on_delete=models.CASCADE)
    text = models.TextField()

    def __str__(self) -> str:
        return f"text of section {self.pk}"


class Chunk(models.Model):
    """An exact slice of a version's canonical text, in one section and one access class."""

    class State(models.TextChoices):
        """Whether a passage may be searched; quarantined ones wait for a person."""

        READY = "ready"
        QUARANTINED = "quarantined"
        RELEASED = "released"
        REJECTED = "rejected"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.ForeignKey(
        "documents.PolicyVersion", on_delete=models.CASCADE, related_name="chunks"
    )
    section = models.ForeignKey(Section, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    text = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    overlap = models.PositiveIntegerField(default=0)
    pages = ArrayField(models.PositiveIntegerField(), default=list)
    page_starts = ArrayField(models.PositiveIntegerField(), default=list)  # one for each of `pages`
    # Each {label, marker, start, end}: the clauses that begin here, cut at the chunk's end.
    clauses = models.JSONField(default=list)
    # Each {start, end, target, label}: `target` is a section's ordinal.
    references = models.JSONField(default=list)
    source_url = models.CharField(max_length=500, blank=True)
    kind = models.CharField(max_length=12)
    state = models.CharField(max_length=11, choices=State.choices, default=State.READY)
    access_class = models.ForeignKey(
        "documents.AccessClass", on_delete=models.PROTECT, db_index=False, related_name="+"
    )
    effective_from = models.DateField(null=True)  # null: not published
    effective_to = models.DateField(default=datetime.date.max)  # the last day in force
    live = models.BooleanField(default=False)  # in the HNSW index
    token_count = models.PositiveIntegerField()
    embedding = HalfVectorField(dimensions=EMBEDDING_DIMENSION, null=True)
    embedding_model = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["version", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["version", "ordinal"], name="chunk_ordinal_once"),
            models.CheckConstraint(
                condition=Q(effective_from__isnull=True) | Q(state__in=["ready", "released"]),
                name="held_chunk_has_no_dates",
            ),
            models.CheckConstraint(condition=Q(end__gt=models.F("start")), name="chunk_not_empty"),
        ]
        indexes = [
            HnswIndex(
                name="chunk_live_hnsw",
                fields=["embedding"],
                opclasses=["halfvec_ip_ops"],
                m=16,
                ef_construction=64,
                condition=Q(live=True),
            ),
            models.Index(
                name="chunk_read", fields=["access_class", "effective_to", "effective_from"]
            ),
        ]

    def __str__(self) -> str:
        return f"chunk {self.ordinal} of version {self.version_id}"


class ChunkTerms(models.Model):
    """The hashed terms of a published chunk with their saturated BM25 weights.

    `is_counted` is set once the first day has come: scheduled chunks are in no statistics.
    """

    chunk = models.OneToOneField(Chunk, primary_key=True, on_delete=models.CASCADE)
    access_class = models.IntegerField()
    effective_from = models.DateField()
    effective_to = models.DateField()
    is_counted = models.BooleanField(default=False)
    terms = ArrayField(models.IntegerField())
    weights = SparseVectorField(dimensions=TERM_SPACE)

    class Meta:
        indexes = [
            GinIndex(name="chunk_terms_gin", fields=["terms"]),
            models.Index(
                name="chunk_terms_read", fields=["access_class", "effective_to", "effective_from"]
            ),
        ]

    def __str__(self) -> str:
        return f"terms of chunk {self.pk}"


class TermStat(models.Model):
    """How many counted chunks of a class hold a term; term 0 counts the chunks."""

    pk = models.CompositePrimaryKey("term", "access_class")
    term = models.IntegerField()
    access_class = models.IntegerField()
    df = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.term} in {self.access_class}: {self.df}"


class TermDelta(models.Model):
    """An append-only change of a `TermStat`; compacted by a periodic task."""

    term = models.IntegerField(db_index=True)
    access_class = models.IntegerField()
    df = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.term} in {self.access_class}: {self.df:+}"
