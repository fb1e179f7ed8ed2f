"""Who may read, and who may erase, the questions of others."""

from django.db import migrations

PERMISSIONS = [
    ("read_questions", "May read the questions of others"),
    ("erase_questions", "May erase the words of a person's questions"),
]
GROUPS = {
    "auditor": ("view_questionrecord", "read_questions"),
    "administrator": ("view_questionrecord", "erase_questions"),
}


def let_groups(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    # Permissions are made after all migrations; on a fresh database they must be made here.
    content_type, _ = ContentType.objects.get_or_create(app_label="qa", model="questionrecord")
    names = {**dict(PERMISSIONS), "view_questionrecord": "Can view question record"}
    for group, codenames in GROUPS.items():
        found = Group.objects.filter(name=group).first()
        for codename in codenames if found else ():
            permission, _ = Permission.objects.get_or_create(
                content_type=content_type, codename=codename, defaults={"name": names[codename]}
            )
            found.permissions.add(permission)


def let_nobody(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    for group, codenames in GROUPS.items():
        found = Group.objects.filter(name=group).first()
        if found:
            found.permissions.remove(
                *Permission.objects.filter(content_type__app_label="qa", codename__in=codenames)
            )


class Migration(migrations.Migration):
    dependencies = [
        ("qa", "0002_row_security"),
        ("documents", "0005_groups"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [
        migrations.AlterModelOptions(
            name="questionrecord",
            options={"ordering": ["-pk"], "permissions": PERMISSIONS},
        ),
        migrations.RunPython(let_groups, let_nobody),
    ]
