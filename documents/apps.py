"""The application of policies, versions, labels and ingestion."""

from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    """Holds what the organisation's policies say, in which version, and who may read it."""

    name = "documents"
    verbose_name = "Policies"

    def ready(self) -> None:
        """Register the system checks, the task that takes batches, and the audit of sign-ins."""
        from documents import (
            batches,  # noqa: F401 - registers on import
            checks,  # noqa: F401 - registers on import
            sign_ins,
        )

        sign_ins.connect()
