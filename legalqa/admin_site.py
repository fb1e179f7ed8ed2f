"""The admin site: every page of it works inside `editing`, the door of staff."""

from __future__ import annotations

from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from documents import access


class LegalqaAdminSite(admin.AdminSite):
    """Staff see protected rows here; each page's queryset limits them to their departments."""

    site_header = site_title = "legalqa"
    index_title = "Policies and people"

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """The menu, with the name that a page's users know where it has one."""
        apps: list[dict[str, Any]] = super().get_app_list(request, app_label)
        for model in (model for app in apps for model in app["models"]):
            page = self._registry[model["model"]]
            model["name"] = getattr(page, "menu_name", None) or model["name"]
        return apps

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Run a view, rendering included, inside `editing`."""
        inner = super().admin_view(view, cacheable)

        @wraps(view)
        def in_editing(request: HttpRequest, *args: object, **kwargs: object) -> Any:
            with access.editing():
                response = inner(request, *args, **kwargs)
                if hasattr(response, "render"):
                    response.render()
            return response

        return in_editing
