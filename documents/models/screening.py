"""What screening saw, and the hosts that an answer may name."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Finding(models.Model):
    """A passage that speaks to an AI system or hides from a person.

    `chunk` is null where the finding is in the title, the file name or hidden text.
    """

    class Decision(models.TextChoices):
        """What a person decided; both ways can be taken back."""

        PENDING = "pending"
        RELEASED = "released"
        REJECTED = "rejected"

    version = models.ForeignKey(
        "documents.PolicyVersion", on_delete=models.CASCADE, related_name="findings"
    )
    chunk = models.ForeignKey(
        "documents.Chunk", null=True, blank=True, on_delete=models.CASCADE, related_name="findings"
    )
    rule = models.CharField(max_length=100)
    severity = models.CharField(max_length=10)
    where = models.CharField(max_length=20)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    text = models.TextField()
    folded = models.TextField()
    decision = models.CharField(max_length=10, choices=Decision.choices, default=Decision.PENDING)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    note = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["version", "start"]

    def __str__(self) -> str:
        return f"{self.rule} in version {self.version_id}"


class AllowedDomain(models.Model):
    """An exact host that answers may name."""

    host = models.CharField(max_length=253, unique=True)
    reason = models.CharField(max_length=300)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.host
