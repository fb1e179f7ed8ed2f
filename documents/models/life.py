"""What outlives a version or watches over a policy: numbers given, reminders of reviews."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class DeletedVersion(models.Model):
    """The number of a version that was deleted: no other text of the policy ever gets it.

    Answers on record and links name a version by its number.
    """

    policy = models.ForeignKey(
        "documents.Policy", on_delete=models.CASCADE, related_name="deleted_versions"
    )
    number = models.PositiveIntegerField()
    deleted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="deleted_version_once")
        ]

    def __str__(self) -> str:
        return f"version {self.number} of policy {self.policy_id}, deleted"


class ReviewReminder(models.Model):
    """A notice that a policy is due for review: written once for its date, sent when mail works."""

    policy = models.ForeignKey(
        "documents.Policy", on_delete=models.CASCADE, related_name="review_reminders"
    )
    review_by = models.DateField()
    days_ahead = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    sent_to = ArrayField(models.TextField(), default=list)
    attempts = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=200, blank=True)  # why it was not sent yet

    class Meta:
        ordering = ["review_by", "policy"]
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "review_by", "days_ahead"], name="reminder_once"
            )
        ]

    def __str__(self) -> str:
        return f"review of {self.policy} by {self.review_by}"
