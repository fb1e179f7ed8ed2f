"""Policies and their versions.

What a reader may see of a version is in `PolicyVersion`; its file, canonical text, warnings
and counts are in `VersionDetail`, on which the reader role has no right.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, DateRangeField, RangeOperators
from django.db import models
from django.db.models import F, Func, Q, Value


class VersionState(models.TextChoices):
    """Where a version stands; only `lifecycle.transition` moves it."""

    RECEIVED = "received"
    PARSING = "parsing"
    SCREENING = "screening"
    HELD = "held"
    AWAITING_APPROVAL = "awaiting_approval"
    INDEXING = "indexing"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    FAILED = "failed"
    REJECTED = "rejected"


class Policy(models.Model):
    """A rule of the organisation; its texts are its versions."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=120, unique=True)
    title = models.CharField(max_length=300)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text="Whom a reader asks about this policy."
    )
    department = models.CharField(max_length=100, blank=True)
    category = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=10, blank=True, help_text="Empty: detected.")
    default_labels = models.ManyToManyField("documents.AccessLabel", blank=True)
    review_by = models.DateField(null=True, blank=True)
    jurisdiction = models.CharField(max_length=100, blank=True)
    source_url = models.URLField(blank=True)
    source_licence = models.CharField(max_length=100, blank=True)
    retrieved_on = models.DateField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        return self.title


class PolicyVersion(models.Model):
    """One text of a policy with the days on which it is in force."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    effective = DateRangeField(null=True, blank=True)  # [first day, day after the last)
    state = models.CharField(
        max_length=20, choices=VersionState.choices, default=VersionState.RECEIVED
    )
    media_type = models.CharField(max_length=100, blank=True)
    language = models.CharField(max_length=10, blank=True)
    labels = models.ManyToManyField("documents.AccessLabel", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["policy", "-number"]
        permissions = [
            ("approve_version", "May approve versions"),
            ("review_findings", "May release or reject quarantined passages"),
            ("read_scheduled", "May read versions before their first day"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="version_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=VersionState.values), name="version_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="published")
                | Q(effective__isnull=False, effective__isempty=False),
                name="published_has_dates",
            ),
            # The embedded Postgres has no btree_gist, so the policy goes in as a range.
            ExclusionConstraint(
                name="one_published_version_a_day",
                expressions=[
                    (
                        Func(F("policy_id"), F("policy_id"), Value("[]"), function="int8range"),
                        RangeOperators.EQUAL,
                    ),
                    ("effective", RangeOperators.OVERLAPS),
                ],
                condition=Q(state="published"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.policy.slug}@{self.number}"


class VersionDetail(models.Model):
    """What only staff and workers see of a version."""

    version = models.OneToOneField(
        PolicyVersion, primary_key=True, on_delete=models.CASCADE, related_name="detail"
    )
    file_sha256 = models.CharField(max_length=64)
    file_name = models.CharField(max_length=255)
    file_size_bytes = models.BigIntegerField()
    canonical_text = models.TextField(blank=True)
    hidden_text = models.JSONField(default=list, blank=True)
    active_content = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)  # what the file says of itself
    warnings = models.JSONField(default=list, blank=True)
    signature = models.BinaryField(default=bytes, blank=True)  # `ingestion.similarity`
    # Versions of other policies that this one nearly repeats: named to their own staff alone.
    near_duplicates = models.JSONField(default=list, blank=True)
    page_count = models.PositiveIntegerField(default=0)  # 0: the format has no pages
    unread_pages = ArrayField(models.PositiveIntegerField(), default=list, blank=True)
    failure = models.CharField(max_length=500, blank=True)
    is_retryable = models.BooleanField(default=False)
    attempts = models.PositiveIntegerField(default=0)
    queued_at = models.DateTimeField(auto_now_add=True)
    section_count = models.PositiveIntegerField(default=0)
    chunk_count = models.PositiveIntegerField(default=0)
    embedded_count = models.PositiveIntegerField(default=0)
    pipeline_version = models.CharField(max_length=20, blank=True)
    publish_when_ready = models.BooleanField(default=False)
    # Own labels of sections, {number, title, start, labels}: given to them once they are read.
    carried_labels = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    approved_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"detail of version {self.pk}"


class PageLayout(models.Model):
    """A page of a version's file with the boxes of its words: staff and the system only.

    `words` is what `ingestion.layout.pack` makes. The words of the page are
    `canonical_text[start:end]`; a page without words has none (`start == end`).
    """

    version = models.ForeignKey(PolicyVersion, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=40, blank=True)
    width = models.FloatField()
    height = models.FloatField()
    ocr_confidence = models.FloatField(null=True, blank=True)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    words = models.BinaryField(default=bytes)

    class Meta:
        ordering = ["version", "number"]
        constraints = [
            models.UniqueConstraint(fields=["version", "number"], name="page_number_once")
        ]

    def __str__(self) -> str:
        return f"page {self.number} of version {self.version_id}"
