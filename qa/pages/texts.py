"""Words of the pages that stand for codes, in the reader's language."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

_STEPS: dict[str, Promise] = {
    "rewrite": _("Read the question"),
    "retrieve": _("Search"),
    "gate": _("Check relevance"),
    "generate": _("Draft"),
    "verify": _("Verify"),
}
_STATUSES: dict[str, Promise] = {
    "ok": _("done"),
    "running": _("running"),
    "skipped": _("not needed"),
    "refused": _("stopped here"),
    "failed": _("failed"),
    "waiting": _("waiting"),
}
_CONFIDENCE: dict[str, Promise] = {
    "high": _("High confidence"),
    "medium": _("Medium confidence"),
    "low": _("Low confidence"),
}
_REASONS: dict[str, Promise] = {
    "no_documents": _("No policy to read"),
    "below_threshold": _("Not covered"),
    "not_answerable": _("Not answered by the policies"),
    "no_valid_citation": _("No valid citation"),
    "quote_not_found": _("Quote not found"),
    "number_not_supported": _("Figure not supported"),
    "modality_mismatch": _("“Must” and “may” do not match"),
    "not_supported": _("Not supported by its source"),
    "output_policy": _("Not allowed in an answer"),
    "model_error": _("The language model failed"),
    "budget_exhausted": _("Budget used up"),
    "invalid_question": _("Not a question"),
}
_OUTCOMES: dict[str, Promise] = {
    "answered": _("Answered"),
    "refused": _("No answer"),
    "aborted": _("Interrupted"),
}
_EXAMPLES: tuple[Promise, ...] = (
    _("How many days of annual leave do I get a year?"),
    _("How soon must I report a suspected breach?"),
    _("What is the hotel limit per night?"),
)
# Sentences of the flow and the log that reach a reader; here only to be translated.
NOTICES = (
    gettext_noop("Information from your organisation's policies, not legal advice."),
    gettext_noop("A passage of a policy that was looked at awaits review and was not read."),
    gettext_noop(
        "A label of these passages forbids a hosted model, so the answer quotes them directly."
    ),
    gettext_noop("Something this answer rests on can no longer be read."),
    gettext_noop("A version quoted here is not yet in force."),
    gettext_noop("A version quoted here is no longer in force."),
    gettext_noop(
        "No version of this policy that you may read was in force on this date. Its page lists the "
        "days of each version."
    ),
    gettext_noop("The question is empty. Type a question in words."),
)


def _named(names: dict[str, Promise], code: str) -> str:
    return str(names.get(code, code))


def step(name: str) -> str:
    """What a step does."""
    return _named(_STEPS, name)


def status(code: str) -> str:
    """How a step ended."""
    return _named(_STATUSES, code)


def confidence(code: str) -> str:
    """How sure an answer is; empty for none."""
    return _named(_CONFIDENCE, code)


def reason(code: str) -> str:
    """Why there is no answer, in a few words."""
    return _named(_REASONS, code)


def outcome(code: str) -> str:
    """How a question ended."""
    return _named(_OUTCOMES, code)


def steps() -> list[tuple[str, str]]:
    """The five steps in order, by name and label."""
    return [(name, str(label)) for name, label in _STEPS.items()]


def examples() -> list[str]:
    """Questions to begin with."""
    return [str(text) for text in _EXAMPLES]


def for_script() -> dict[str, object]:
    """All of it, and what only the script says, for `json_script`."""
    return {
        "statuses": {code: str(text) for code, text in _STATUSES.items()},
        "confidence": {code: str(text) for code, text in _CONFIDENCE.items()},
        "reasons": {code: str(text) for code, text in _REASONS.items()},
        "notices": {text: str(_(text)) for text in NOTICES},
        "since": str(_("in force since %(first)s")),
        "between": str(_("in force from %(first)s to %(last)s")),
        "version": str(_("version %(number)s")),
        "asked_of": str(_("Under the rules in force on %(day)s")),
        "working": str(_("Looking through the policies that you may read …")),
        "answered": str(_("The answer is complete.")),
        "refused": str(_("There is no answer; the reason is given below.")),
        "retracted": str(
            _(
                "The answer that had begun to appear was withdrawn: a later sentence of it could "
                "not be verified."
            )
        ),
        "broken": str(
            _(
                "The connection was lost before the answer was complete. What stands here is "
                "verified, but an exception or condition may be missing. Ask again."
            )
        ),
        "stopped": str(_("You stopped this question. What stands here is incomplete.")),
        "unreachable": str(
            _("The server cannot be reached. Check your connection, then ask again.")
        ),
        "signed_out": str(_("Your log-in has expired. Log in in a new tab, then ask again.")),
        "too_many": str(_("Too many questions. Ask again in %(seconds)s seconds.")),
        "log_in": str(_("Log in")),
        "empty": str(_("The question is empty. Type a question in words.")),
        "server": str(_("Something went wrong on our side. Ask again shortly.")),
        "too_long": str(_("%(over)s characters too long")),
        "count": str(_("%(used)s of %(max)s characters")),
        "enter": str(_("Enter asks; Shift and Enter begin a new line.")),
        "badge": str(_("Source %(n)s: %(label)s")),
    }
