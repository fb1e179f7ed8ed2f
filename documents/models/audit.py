"""Who did what to which object: rows that the application's role can only insert."""

from __future__ import annotations

from django.db import models


class AuditEvent(models.Model):
    """One act, written in the same transaction as what it records."""

    at = models.DateTimeField(auto_now_add=True)
    actor_id = models.BigIntegerField(null=True)  # no foreign key: the record outlives the account
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=60)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    address = models.CharField(max_length=45, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["object_type", "object_id"], name="audit_by_object")]

    def __str__(self) -> str:
        return (
            f"{self.at:%F %T} {self.actor_name} {self.action} {self.object_type} {self.object_id}"
        )
