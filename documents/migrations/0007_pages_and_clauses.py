"""Pages with the boxes of their words; clauses, references and official links of chunks.

Boxes tell of text that a reader may not read, so pages get the same policies as the other
tables of staff and no right for the reader's role.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SCOPE = "(select current_setting('legalqa.scope', true)) = 'all'"
PROTECT = f"""
alter table documents_pagelayout enable row level security;
alter table documents_pagelayout force row level security;
create policy staff on documents_pagelayout to legalqa_app
  using ({SCOPE}) with check ({SCOPE});
create policy owner on documents_pagelayout to legalqa_owner using (true) with check (true);
"""
UNPROTECT = """
drop policy staff on documents_pagelayout;
drop policy owner on documents_pagelayout;
alter table documents_pagelayout no force row level security;
alter table documents_pagelayout disable row level security;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0006_labels_in_use_stay"),
    ]

    operations = [
        migrations.AddField(
            model_name="chunk",
            name="clauses",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="chunk",
            name="page_starts",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.PositiveIntegerField(), default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="chunk",
            name="references",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="chunk",
            name="source_url",
            field=models.CharField(blank=True, max_length=500),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="active_content",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="metadata",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="near_duplicates",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="page_count",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="signature",
            field=models.BinaryField(blank=True, default=bytes),
        ),
        migrations.AddField(
            model_name="versiondetail",
            name="unread_pages",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.PositiveIntegerField(), blank=True, default=list, size=None
            ),
        ),
        migrations.CreateModel(
            name="PageLayout",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("label", models.CharField(blank=True, max_length=40)),
                ("width", models.FloatField()),
                ("height", models.FloatField()),
                ("ocr_confidence", models.FloatField(blank=True, null=True)),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("words", models.BinaryField(default=bytes)),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pages",
                        to="documents.policyversion",
                    ),
                ),
            ],
            options={
                "ordering": ["version", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "number"), name="page_number_once")
                ],
            },
        ),
        migrations.RunSQL(PROTECT, UNPROTECT),
    ]
