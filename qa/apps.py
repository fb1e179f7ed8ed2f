"""The application of questions and answers."""

from django.apps import AppConfig


class QAConfig(AppConfig):
    """Retrieves, answers, verifies and logs."""

    name = "qa"
    verbose_name = "Questions and answers"

    def ready(self) -> None:
        """Count wrong tries to sign in; say which answers are touched, and which were altered."""
        from documents import hooks
        from qa import guessing, impact, word_check

        guessing.connect()
        if impact.answers_touched not in hooks.impact_of:
            hooks.impact_of.append(impact.answers_touched)
        if word_check.altered not in hooks.audit_checks:
            hooks.audit_checks.append(word_check.altered)
