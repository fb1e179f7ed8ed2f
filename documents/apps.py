"""The application of policies, versions, labels and ingestion."""

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    """Holds what the organisation's policies say, in which version, and who may read it."""

    name = "documents"
    verbose_name = "Policies"

    def ready(self) -> None:
        """Register the system checks."""
        from documents import checks  # noqa: F401 - registers on import
