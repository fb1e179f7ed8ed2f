"""Who did what to which object, and the chain over it: rows that the application only inserts.

The application's role may neither change nor delete a row of these tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from documents import chain

if TYPE_CHECKING:
    TextColumn = models.CharField[str, str]
else:
    TextColumn = models.CharField


class _SignatureField(TextColumn):
    """Signs the event that it is saved with, so that no way to write one can leave it out."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if add and isinstance(model_instance, AuditEvent):
            model_instance.signature = chain.sign_event(
                chain.Keys(settings.AUDIT_KEYS), model_instance.content()
            )
        return super().pre_save(model_instance, add)

    def deconstruct(self) -> Any:
        """A plain column to migrations, which import no code of ours."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


class AuditEvent(models.Model):
    """One act, written in the same transaction as what it records."""

    at = models.DateTimeField(default=timezone.now, editable=False)
    actor_id = models.BigIntegerField(null=True)  # no foreign key: the record outlives the account
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=60)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    address = models.CharField(max_length=45, blank=True)
    signature = _SignatureField(
        max_length=80, blank=True, editable=False, default="", db_default=""
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["object_type", "object_id"], name="audit_by_object"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return (
            f"{self.at:%F %T} {self.actor_name} {self.action} {self.object_type} {self.object_id}"
        )

    def content(self) -> chain.Event:
        """What is signed and hashed."""
        return chain.Event(
            at=self.at,
            actor_id=self.actor_id,
            actor_name=self.actor_name,
            action=self.action,
            object_type=self.object_type,
            object_id=self.object_id,
            before=self.before,
            after=self.after,
            address=self.address,
        )


class AuditSeal(models.Model):
    """An event's place in the chain; the ordinals have no gap, whatever the events' ids have."""

    ordinal = models.BigIntegerField(primary_key=True)
    # No constraint, and joined as if it might be missing: an event that was removed against all
    # rights must be seen.
    event = models.OneToOneField(
        AuditEvent, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="seal"
    )
    reach = models.BigIntegerField()  # the highest event id sealed up to here
    content_hash = models.CharField(max_length=64)
    chain_hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=80)
    sealed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["ordinal"]
        default_permissions = ()
        indexes = [models.Index(fields=["sealed_at"], name="seal_by_time")]

    def __str__(self) -> str:
        return f"{self.ordinal}: event {self.event_id}"


class AuditAnchor(models.Model):
    """Where the chain stood at one moment of a day, signed, to be kept elsewhere too."""

    number = models.BigIntegerField(primary_key=True)
    day = models.DateField(unique=True)
    ordinal = models.BigIntegerField()
    chain_hash = models.CharField(max_length=64)
    signature = models.CharField(max_length=80)
    made_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.day}: seal {self.ordinal}"
