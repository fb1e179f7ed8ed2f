"""Numbers of deleted versions, labels that a restored text brings along, reminders of reviews.

Both tables are for staff and the system: the reader's role gets no right on them. Deleting is
for administrators.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
TABLES = ["documents_deletedversion", "documents_reviewreminder"]
PROTECT = "".join(
    f"""
alter table {table} enable row level security;
alter table {table} force row level security;
create policy staff on {table} to legalqa_app using ({SCOPE}) with check ({SCOPE});
create policy owner on {table} to legalqa_owner using (true) with check (true);
"""
    for table in TABLES
)
UNPROTECT = "".join(
    f"""
drop policy staff on {table};
drop policy owner on {table};
alter table {table} no force row level security;
alter table {table} disable row level security;
"""
    for table in TABLES
)
RIGHTS = {"policy": "delete_policy", "policyversion": "delete_policyversion"}


def let_administrators_delete(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    group, _ = Group.objects.get_or_create(name="administrator")
    for model, codename in RIGHTS.items():
        group.permissions.add(_permission(apps, model, codename))


def _permission(apps, model, codename):
    # Django makes permissions after all migrations: on a fresh database they are not there yet.
    ContentType = apps.get_model("contenttypes", "ContentType")
    content_type, _ = ContentType.objects.get_or_create(app_label="documents", model=model)
    verbose = apps.get_model("documents", model)._meta.verbose_name
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type,
        codename=codename,
        defaults={"name": f"Can delete {verbose}"},
    )
    return permission


def let_nobody_delete(apps, schema_editor):
    group = apps.get_model("auth", "Group").objects.filter(name="administrator").first()
    if group is not None:
        group.permissions.remove(*group.permissions.filter(codename__in=RIGHTS.values()))


class Migration(migrations.Migration):
    dependencies = [("documents", "0008_audit_chain")]

    operations = [
        migrations.AddField(
            model_name="versiondetail",
            name="carried_labels",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.CreateModel(
            name="DeletedVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("deleted_at", models.DateTimeField(auto_now_add=True)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deleted_versions",
                        to="documents.policy",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("policy", "number"), name="deleted_version_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewReminder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("review_by", models.DateField()),
                ("days_ahead", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
                (
                    "sent_to",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("problem", models.CharField(blank=True, max_length=200)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_reminders",
                        to="documents.policy",
                    ),
                ),
            ],
            options={
                "ordering": ["review_by", "policy"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("policy", "review_by", "days_ahead"), name="reminder_once"
                    )
                ],
            },
        ),
        migrations.RunSQL(PROTECT, UNPROTECT),
        migrations.RunPython(let_administrators_delete, let_nobody_delete),
    ]
