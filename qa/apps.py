"""The application of questions and answers."""

from django.apps import AppConfig


class QAConfig(AppConfig):
    """Retrieves, answers, verifies and logs."""

    name = "qa"
    verbose_name = "Questions and answers"

    def ready(self) -> None:
        """Count wrong tries to sign in."""
        from qa import guessing

        guessing.connect()
