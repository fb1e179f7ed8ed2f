"""Users and groups: for superusers alone, so that nobody becomes more than they are."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse

from documents.admin.base import AuditedAdmin, SuperuserOnly

admin.site.unregister([User, Group])


@admin.register(User)
class PersonAdmin(SuperuserOnly[User], AuditedAdmin[User], UserAdmin):  # type: ignore[type-arg]  # Django's takes none at run time
    """People, with every change on record; passwords are not."""

    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        """Set a password, and record that it was set."""
        response = super().user_change_password(request, id, form_url)
        person = self.get_object(request, id)
        if response.status_code == 302 and person is not None:
            self.record(request, "password_set", person, None, None)
        return response


@admin.register(Group)
class PeopleAdmin(SuperuserOnly[Group], AuditedAdmin[Group], GroupAdmin):
    """Groups, with every change on record."""
