"""The five groups that every installation starts with, each with its permissions."""

from django.db import migrations

GROUPS = {
    "employee": [],
    "policy owner": [
        "add_policy",
        "change_policy",
        "view_policy",
        "add_policyversion",
        "change_policyversion",
        "view_policyversion",
        "view_section",
        "change_section",
        "view_finding",
        "view_chunk",
    ],
    "reviewer": [
        "view_policy",
        "view_policyversion",
        "approve_version",
        "review_findings",
        "view_finding",
        "change_finding",
        "view_chunk",
        "view_section",
        "read_scheduled",
    ],
    "auditor": [
        "view_auditevent",
        "view_policy",
        "view_policyversion",
        "view_accesslabel",
        "view_labelgrant",
    ],
    "administrator": [
        "add_policy",
        "change_policy",
        "view_policy",
        "add_policyversion",
        "change_policyversion",
        "view_policyversion",
        "view_section",
        "change_section",
        "view_chunk",
        "view_finding",
        "change_finding",
        "approve_version",
        "review_findings",
        "read_scheduled",
        "add_accesslabel",
        "change_accesslabel",
        "view_accesslabel",
        "add_labelgrant",
        "change_labelgrant",
        "delete_labelgrant",
        "view_labelgrant",
        "add_alloweddomain",
        "change_alloweddomain",
        "delete_alloweddomain",
        "view_alloweddomain",
        "view_auditevent",
    ],
}


def create_groups(apps, schema_editor):
    Group = apps.get_model("auth", "Group")
    Permission = apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    # Permissions are made after all migrations; on a fresh database they must be made here.
    for name, codenames in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        for codename in codenames:
            group.permissions.add(_permission(apps, Permission, ContentType, codename))


def _permission(apps, Permission, ContentType, codename):
    model = {
        "approve_version": "policyversion",
        "review_findings": "policyversion",
        "read_scheduled": "policyversion",
    }.get(codename) or codename.split("_", 1)[1]
    content_type, _ = ContentType.objects.get_or_create(app_label="documents", model=model)
    verbose = apps.get_model("documents", model)._meta
    names = dict(verbose.permissions)
    verb = codename.split("_", 1)[0]
    name = names.get(codename, f"Can {verb} {verbose.verbose_name}")
    permission, _ = Permission.objects.get_or_create(
        content_type=content_type, codename=codename, defaults={"name": name}
    )
    return permission


def delete_groups(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=GROUPS).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("documents", "0004_retrieve"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(create_groups, delete_groups)]
