"""The pages of published quality. What is missing and what is forbidden look alike."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation import reports
from evaluation.shown import meaning, shown_figures
from qa.pages.preview import reader_of


@login_required
@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    """The newest runs with their headline figures."""
    lines = [
        (line, shown_figures(line.figures)) for line in reports.visible_runs(reader_of(request))
    ]
    headings = [(name, meaning(name)) for name in reports.HEADLINES]
    return render(request, "evaluation/runs.html", {"runs": lines, "headings": headings})


@login_required
@require_safe
def run(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """One run: figures, and every question that the reader may see, expandable."""
    page = reports.run_page(reader_of(request), public_id)
    if page is None:
        raise Http404
    only_failed = request.GET.get("show") == "failed"
    failed = [result for result in page.results if not result.is_passed]
    context = {
        "run": page.facts,
        "figures": shown_figures(page.figures, page.gates),
        "total": len(page.results),
        "failed": len(failed),
        "results": failed if only_failed else page.results,
        "only_failed": only_failed,
    }
    return render(request, "evaluation/run.html", context)
