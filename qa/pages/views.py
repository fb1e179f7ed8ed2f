"""The pages: each view parses, calls, renders. What is missing and what is forbidden look alike."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from documents import access, actions
from documents.errors import AccessError, DocumentsError, ParseError, ValidationProblem
from qa import answer_log, limits, pipeline
from qa import originals as file_responses
from qa.answering.gates import MAX_QUESTION_LENGTH
from qa.answering.present import outcome_json
from qa.errors import QAError
from qa.pages import originals, reading, texts, versions
from qa.pages.forms import AskForm, DayForm
from qa.pages.preview import current, reader_of, require_shown, shown_reader
from qa.pages.shown import day, shown_answer
from qa.pipeline import Asked

if TYPE_CHECKING:
    from django.contrib.auth.models import User

P = ParamSpec("P")
_View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def _with_day(
    view: Callable[Concatenate[HttpRequest, date | None, P], HttpResponseBase],
) -> _View[P]:
    """Hand a view the `as_of` of its address; what is wrong with it becomes a clear page."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        form = DayForm(request.GET)
        if not form.is_valid():
            return _bad_request(request, " ".join(map(str, form.errors["as_of"])))
        try:
            return view(request, form.cleaned_data["as_of"], *args, **kwargs)
        except ValidationProblem as error:
            return _bad_request(request, error.message)

    return checked


def _bad_request(request: HttpRequest, message: str) -> HttpResponse:
    return render(request, "400.html", {"message": message}, status=400)


@login_required
def ask(request: HttpRequest) -> HttpResponse:
    """The question form; a POST without script gets the whole answer with it."""
    reader_of(request)  # nothing is asked while one sees the policies as another person
    if request.method != "POST":
        form = AskForm(initial={"question": request.GET.get("question", "")})
        return _ask_page(request, form)
    given = request.POST.copy()
    if example := given.pop("example", None):
        given["question"] = str(example[-1])
    return _answer_page(request, AskForm(given))


def _answer_page(request: HttpRequest, form: AskForm) -> HttpResponse:
    if not form.is_valid():
        return _ask_page(request, form, status=400)
    wait_seconds = limits.seconds_to_wait("ask", request.user.pk)
    if wait_seconds:
        return _too_many(request, form, int(wait_seconds) + 1)
    asked = Asked(
        asker=reader_of(request),
        question=form.cleaned_data["question"],
        as_of=form.cleaned_data["as_of"],
        door="page",
    )
    try:
        outcome = pipeline.ask(asked).outcome
    except AccessError:
        raise
    except ValidationProblem as error:
        form.add_error("as_of", error.message)
        return _ask_page(request, form, status=400)
    except (DocumentsError, QAError) as error:
        form.add_error(None, error.message)
        return _ask_page(request, form, status=503)
    return _ask_page(request, form, answer=shown_answer(outcome_json(outcome)))


def _too_many(request: HttpRequest, form: AskForm, seconds: int) -> HttpResponse:
    message = gettext("Too many questions. Ask again in %(seconds)s seconds.")
    form.add_error(None, message % {"seconds": seconds})
    response = _ask_page(request, form, status=429)
    response["Retry-After"] = str(seconds)
    return response


def _ask_page(
    request: HttpRequest, form: AskForm, *, status: int = 200, answer: object = None
) -> HttpResponse:
    context = {
        "form": form,
        "answer": answer,
        "examples": texts.examples(),
        "steps": texts.steps(),
        "script_texts": texts.for_script(),
        "max_length": MAX_QUESTION_LENGTH,
    }
    return render(request, "qa/ask.html", context, status=status)


@login_required
@require_safe
@_with_day
def policies(request: HttpRequest, as_of: date | None) -> HttpResponse:
    """The policies of which the reader may read something."""
    with access.reading_as(shown_reader(request), as_of) as open_reading:
        found = access.readable_policies(open_reading)
    if preview := current(request):
        found = [policy for policy in found if preview.shows(policy.slug)]
    context = {
        "policies": found,
        "form": DayForm(initial={"as_of": as_of}),
        "as_of": as_of,
        "day": day(open_reading.as_of),
    }
    return render(request, "qa/policies.html", context)


@login_required
@require_safe
@_with_day
def policy(request: HttpRequest, as_of: date | None, slug: str) -> HttpResponse:
    """The version of a policy that is in force on the day asked for."""
    page = reading.policy_page(shown_reader(request, slug), slug, as_of)
    form = DayForm(initial={"as_of": as_of})
    if page is not None:
        return render(request, "qa/policy.html", {"page": page, "form": form})
    history = versions.history_page(shown_reader(request), slug, as_of)
    if history is None or not history.gap:
        raise Http404
    context = {"page": history, "form": form}
    return render(request, "qa/policy_history.html", context, status=404)


@login_required
@require_safe
def policy_history(request: HttpRequest, slug: str) -> HttpResponse:
    """The versions of a policy that the reader may read, on whatever day."""
    page = versions.history_page(shown_reader(request, slug), slug)
    if page is None:
        raise Http404
    return render(request, "qa/policy_history.html", {"page": page})


@login_required
@require_safe
def policy_changes(request: HttpRequest, slug: str, older: int, newer: int) -> HttpResponse:
    """What changed between two versions of a policy, as far as the reader may read both."""
    page = versions.changes_page(shown_reader(request, slug), slug, older, newer)
    if page is None:
        raise Http404
    return render(request, "qa/policy_changes.html", {"page": page})


@login_required
@require_safe
@_with_day
def section(request: HttpRequest, as_of: date | None, public_id: UUID) -> HttpResponse:
    """A section, with the cited words marked."""
    span = _span(request)
    page = reading.section_page(shown_reader(request), public_id, as_of, span)
    if page is None:
        raise Http404
    require_shown(request, page.version.slug)
    return render(request, "qa/section.html", {"page": page, "has_span": span is not None})


@login_required
@require_safe
@_with_day
def page(
    request: HttpRequest, as_of: date | None, slug: str, number: int, page: int
) -> HttpResponse:
    """A page of the file as it is printed, with the cited words marked."""
    span = _span(request)
    shown = originals.page_of(
        shown_reader(request, slug), slug, number, page, as_of=as_of, span=span
    )
    if shown is None:
        raise Http404
    day_asked = as_of.isoformat() if as_of else ""
    policy_url = f"{reverse('policy', args=[slug])}?{urlencode({'as_of': day_asked})}"
    context = {"page": shown, "policy_url": policy_url, "number": number}
    return render(request, "qa/page.html", context)


@login_required
@require_safe
@_with_day
def page_image(
    request: HttpRequest, as_of: date | None, slug: str, number: int, page: int
) -> HttpResponse:
    """The image of a page, for those who may read all that is on it."""
    view = access.readable_page(shown_reader(request, slug), slug, number, page, as_of=as_of)
    if view is None:
        raise Http404
    try:
        return file_responses.image_response(view)
    except (ParseError, FileNotFoundError) as error:
        raise Http404 from error


@login_required
@require_safe
@_with_day
def file(request: HttpRequest, as_of: date | None, slug: str, number: int) -> HttpResponseBase:
    """The original file, for those who may read all of it."""
    original = access.readable_file(reader_of(request), slug, number, as_of=as_of)
    if original is None:
        raise Http404
    try:
        response = file_responses.FileResponse(original)
    except FileNotFoundError as error:
        raise Http404 from error
    if request.method == "GET":
        user = cast("User", request.user)
        actions.record_download(original, actor=user)
    return response


def _span(request: HttpRequest) -> tuple[int, int] | None:
    """The cited stretch; anything but two sensible numbers marks nothing."""
    ends = [request.GET.get(name, "") for name in ("start", "end")]
    if not all(end.isascii() and end.isdigit() and len(end) <= 10 for end in ends):
        return None
    return int(ends[0]), int(ends[1])


@login_required
@require_safe
def history(request: HttpRequest) -> HttpResponse:
    """The reader's own questions, newest first."""
    asked = answer_log.history(reader_of(request))
    rows = [
        {"question": row, "outcome": texts.outcome(row.status), "as_of": day(row.as_of)}
        for row in asked
    ]
    return render(request, "qa/history.html", {"rows": rows})


@login_required
@require_safe
def past_answer(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """A stored answer as it was shown, while all that it rests on may still be read."""
    found = answer_log.stored_answer(reader_of(request), public_id)
    if found is None:
        raise Http404
    return render(request, "qa/past_answer.html", {"answer": shown_answer(found)})
