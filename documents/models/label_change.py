"""What the database keeps about readers apart from labels and grants themselves.

`VersionEnd` lets a reader see the last day of a version only once it is past: a day to come
tells of the version that begins after it. `LabelProposal` is a change of labels that would let
more people read a published text, and waits for a second person.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class VersionEnd(models.Model):
    """The last day in force of a version that has one; a trigger keeps it as `effective` says."""

    version = models.OneToOneField(
        "documents.PolicyVersion", primary_key=True, on_delete=models.CASCADE, related_name="end"
    )
    last_day = models.DateField()

    def __str__(self) -> str:
        return f"version {self.version_id} until {self.last_day}"


class LabelProposal(models.Model):
    """Labels that one person proposed for a version or sections of it, and another decides on."""

    class Decision(models.TextChoices):
        """What became of it; `stale` when the labels had changed in between."""

        PENDING = "pending"
        ACCEPTED = "accepted"
        REFUSED = "refused"
        TAKEN_BACK = "taken_back"
        STALE = "stale"

    version = models.ForeignKey(
        "documents.PolicyVersion", on_delete=models.CASCADE, related_name="label_proposals"
    )
    sections = ArrayField(models.BigIntegerField(), default=list)  # ids; none: the version's own
    before = ArrayField(models.TextField())  # effective label slugs of each section, in order
    labels = ArrayField(models.SlugField(), default=list)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    proposed_at = models.DateTimeField(auto_now_add=True)
    decision = models.CharField(max_length=10, choices=Decision.choices, default=Decision.PENDING)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "change of labels"
        verbose_name_plural = "changes of labels"
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=["pending", "accepted", "refused", "taken_back", "stale"]),
                name="proposal_decision_known",
            )
        ]

    def __str__(self) -> str:
        return f"labels {', '.join(self.labels) or 'of the version'} for {self.version}"
