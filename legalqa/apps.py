"""The project itself as an application: it brings Celery up in every Django process."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class LegalqaConfig(AppConfig):
    """Makes `shared_task` and `current_app` mean our Celery application."""

    name = "legalqa"

    def ready(self) -> None:
        """Create the Celery application."""
        from legalqa import celery  # noqa: F401 - becomes the current application on import


class LegalqaAdminConfig(AdminConfig):
    """Makes `LegalqaAdminSite` the default site."""

    default_site = "legalqa.admin_site.LegalqaAdminSite"
