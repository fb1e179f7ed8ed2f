"""Uploads of many files at once, and folders that are mirrored: staff and the system only.

A batch keeps what was handed in until each of its files is decided on; a mirrored file says
which policy a path below a folder became, so that the folder can be compared again.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class UploadBatch(models.Model):
    """Files and archives that one person handed in together, with what holds for all of them."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=255)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)  # when the last of its files was decided on
    labels = ArrayField(models.CharField(max_length=50), default=list, blank=True)
    department = models.CharField(max_length=100, blank=True)
    effective_from = models.DateField(null=True, blank=True)
    effective_to = models.DateField(null=True, blank=True)
    publish = models.BooleanField(default=False)
    problem = models.CharField(max_length=500, blank=True)  # why it does not go on just now

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "upload batches"

    def __str__(self) -> str:
        return self.name


class BatchItem(models.Model):
    """One file of a batch and what became of it.

    `source` counts the files as they were handed in; `member` is the place in that archive,
    or null where the file itself is meant.
    """

    class Outcome(models.TextChoices):
        """What became of a file: only `waiting` ones are still to be taken."""

        WAITING = "waiting"
        RECEIVED = "received"
        DUPLICATE = "duplicate"
        REFUSED = "refused"
        PASSED_OVER = "passed_over"

    batch = models.ForeignKey(UploadBatch, on_delete=models.CASCADE, related_name="items")
    ordinal = models.PositiveIntegerField()
    source = models.PositiveIntegerField()
    member = models.PositiveIntegerField(null=True)
    name = models.CharField(max_length=500)  # as it may be shown, folders included
    size_bytes = models.BigIntegerField()
    outcome = models.CharField(max_length=11, choices=Outcome.choices, default=Outcome.WAITING)
    code = models.CharField(max_length=60, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    version = models.ForeignKey(
        "documents.PolicyVersion", null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["batch", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "ordinal"], name="batch_item_once"),
            models.CheckConstraint(
                condition=Q(
                    outcome__in=["waiting", "received", "duplicate", "refused", "passed_over"]
                ),
                name="batch_outcome_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of batch {self.batch_id}"


class MirroredFile(models.Model):
    """A file below a mirrored folder: its path there, and the policy that it became."""

    mirror = models.CharField(max_length=100)
    path = models.TextField()
    policy = models.ForeignKey("documents.Policy", on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64)  # of the bytes that were taken last
    version = models.ForeignKey(
        "documents.PolicyVersion", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    taken_at = models.DateTimeField(auto_now=True)
    gone_on = models.DateField(null=True)  # retired because the file was gone

    class Meta:
        ordering = ["mirror", "path"]
        constraints = [
            models.UniqueConstraint(fields=["mirror", "path"], name="mirrored_path_once"),
        ]

    def __str__(self) -> str:
        return f"{self.mirror}: {self.path}"
