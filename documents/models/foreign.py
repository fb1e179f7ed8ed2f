"""Audit events of other installations, taken over with their corpus and kept apart.

They are evidence of what was done elsewhere, so they are neither renumbered nor continued:
each line stays as it was exported, and can only be inserted.
"""

from __future__ import annotations

import uuid

from django.db import models


class ForeignChain(models.Model):
    """The audit events of one installation, as one import brought them."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    imported_at = models.DateTimeField(auto_now_add=True)
    event_count = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)  # of the lines, each with its newline

    def __str__(self) -> str:
        return f"{self.event_count} events of chain {self.public_id}"


class ForeignEvent(models.Model):
    """One line of a foreign chain, as it was exported."""

    chain = models.ForeignKey(ForeignChain, on_delete=models.CASCADE, related_name="events")
    ordinal = models.PositiveIntegerField()
    line = models.TextField()

    class Meta:
        ordering = ["chain", "ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["chain", "ordinal"], name="foreign_event_once"),
        ]

    def __str__(self) -> str:
        return f"event {self.ordinal} of foreign chain {self.chain_id}"
