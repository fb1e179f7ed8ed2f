"""The chain over the audit trail; the application may add to it and no more."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

FORWARDS = """
revoke update, delete, truncate on documents_auditseal, documents_auditanchor from legalqa_app;
"""
BACKWARDS = """
grant update, delete on documents_auditseal, documents_auditanchor to legalqa_app;
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0007_pages_and_clauses")]

    operations = [
        migrations.AlterField(
            model_name="auditevent",
            name="at",
            field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
        ),
        migrations.AddField(
            model_name="auditevent",
            name="signature",
            field=models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=80
            ),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["at"], name="audit_by_time"),
        ),
        migrations.CreateModel(
            name="AuditSeal",
            fields=[
                ("ordinal", models.BigIntegerField(primary_key=True, serialize=False)),
                (
                    "event",
                    models.OneToOneField(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="seal",
                        to="documents.auditevent",
                    ),
                ),
                ("reach", models.BigIntegerField()),
                ("content_hash", models.CharField(max_length=64)),
                ("chain_hash", models.CharField(max_length=64)),
                ("signature", models.CharField(max_length=80)),
                (
                    "sealed_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "ordering": ["ordinal"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["sealed_at"], name="seal_by_time")],
            },
        ),
        migrations.CreateModel(
            name="AuditAnchor",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("day", models.DateField(unique=True)),
                ("ordinal", models.BigIntegerField()),
                ("chain_hash", models.CharField(max_length=64)),
                ("signature", models.CharField(max_length=80)),
                (
                    "made_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={"ordering": ["number"], "default_permissions": ()},
        ),
        migrations.RunSQL(FORWARDS, BACKWARDS),
    ]
