"""Labels on text and who holds them.

Each distinct set of labels is one access class, and chunks carry its integer: moving a person
or a group touches no chunk.
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class AccessLabel(models.Model):
    """A mark on text. A reader needs one of its audiences and all of its restrictions."""

    class Role(models.TextChoices):
        """An audience opens text to its holders; a restriction closes it to all others."""

        AUDIENCE = "audience"
        RESTRICTION = "restriction"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)
    role = models.CharField(max_length=11, choices=Role.choices, default=Role.AUDIENCE)
    hosted_model_allowed = models.BooleanField(
        default=True, help_text="If not, text under this label is never sent to a hosted model."
    )

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["audience", "restriction"]), name="label_role_known"
            )
        ]

    def __str__(self) -> str:
        return self.slug


class LabelGrant(models.Model):
    """A label held by a group or by a user."""

    label = models.ForeignKey(AccessLabel, on_delete=models.CASCADE, related_name="grants")
    group = models.ForeignKey("auth.Group", null=True, blank=True, on_delete=models.CASCADE)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(group__isnull=True) ^ Q(user__isnull=True), name="grant_to_one_holder"
            ),
            models.UniqueConstraint(
                fields=["label", "group", "user"], name="grant_once", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} to {self.group or self.user}"


class AccessClass(models.Model):
    """A distinct set of labels; `key` is the sorted label ids, so the same set is one row."""

    key = ArrayField(models.IntegerField(), unique=True)

    def __str__(self) -> str:
        return f"class {self.pk}: labels {self.key}"


class ManagedDepartment(models.Model):
    """A department whose policies a member of staff may manage."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    department = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "department"], name="managed_department_once")
        ]

    def __str__(self) -> str:
        return f"{self.user} manages {self.department}"
