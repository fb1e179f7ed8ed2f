"""Seeing the policies as another person does: read-only, on record, and over soon (ADR 0018).

For superusers and administrators, and only for policies that they may manage. The pages of
policies alone take part: nothing is asked, downloaded or shown of the person's questions while
it lasts, and programs and the API never see it.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from documents import previews
from documents.access import Reader

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LIFE = datetime.timedelta(minutes=15)
_KEY = "preview"


@dataclass(frozen=True, slots=True)
class Preview:
    """Whom somebody sees the policies as, and until when; `slugs` are those they may manage."""

    person: User
    reader: Reader
    until: datetime.datetime
    slugs: frozenset[str] | None  # None: all

    @property
    def banner(self) -> str:
        """What every page says meanwhile."""
        words = gettext(
            "You see what %(name)s may read, of the policies that you look after, until %(time)s."
        )
        shown = timezone.localtime(self.until).strftime("%H:%M")
        return words % {"name": self.person.get_username(), "time": shown}

    def shows(self, slug: str) -> bool:
        """Whether the person who looks on may manage that policy."""
        return self.slugs is None or slug in self.slugs


def reader_of(request: HttpRequest) -> Reader:
    """The person signed in, with the rights they hold now.

    Raises:
        PermissionDenied: they see the policies as another person; this page is no part of it.
    """
    if current(request) is not None:
        raise PermissionDenied
    return Reader.for_user(cast("User", request.user))


def shown_reader(request: HttpRequest, slug: str | None = None) -> Reader:
    """As whom a page of policies is read: the person signed in, or whom they look on as.

    Args:
        request: of a page that only shows.
        slug: the policy it is about, which goes on record in a preview.

    Raises:
        Http404: a preview of a policy that the person signed in may not manage.
    """
    preview = current(request)
    if preview is None:
        return Reader.for_user(cast("User", request.user))
    if slug is not None:
        require_shown(request, slug)
    return preview.reader


def require_shown(request: HttpRequest, slug: str) -> None:
    """In a preview, put on record that a policy is looked at; elsewhere, do nothing.

    Raises:
        Http404: the person signed in may not manage it.
    """
    preview = current(request)
    if preview is None:
        return
    if not preview.shows(slug):
        raise Http404
    previews.record_policy(slug, seen_as=preview.person, by=cast("User", request.user))


def current(request: HttpRequest) -> Preview | None:
    """The preview under way, looked up once a request; None when there is none any more."""
    if not hasattr(request, "preview"):
        request.preview = _looked_up(request)  # type: ignore[attr-defined]  # for the banner
    return cast("Preview | None", request.preview)  # type: ignore[attr-defined]  # set above


def _looked_up(request: HttpRequest) -> Preview | None:
    stored = request.session.get(_KEY)
    if stored is None:
        return None
    by = cast("User", request.user)
    until = datetime.datetime.fromisoformat(stored["until"])
    person = get_user_model().objects.filter(pk=stored["person"], is_active=True).first()
    is_over = timezone.now() >= until or stored["by"] != by.pk or not previews.may_preview(by)
    if person is None or is_over:
        del request.session[_KEY]
        return None
    reader = Reader.for_user(person)
    ahead = reader.may_read_scheduled and by.has_perm("documents.read_scheduled")
    return Preview(person, replace(reader, may_read_scheduled=ahead), until, previews.slugs_of(by))


@login_required
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Begin to see the policies as the person named in the form."""
    by = cast("User", request.user)
    if not previews.may_preview(by):
        raise PermissionDenied
    name = request.POST.get("user", "")
    if "\0" in name:
        raise Http404
    person = get_user_model().objects.filter(username=name, is_active=True).first()
    if person is None:
        raise Http404
    until = timezone.now() + LIFE
    previews.record_start(person, by=by, until=until)
    request.session[_KEY] = {"person": person.pk, "by": by.pk, "until": until.isoformat()}
    return HttpResponseRedirect(reverse("policies"))


@login_required
@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """Go back to one's own reading."""
    preview = current(request)
    if preview is None:
        return HttpResponseRedirect(reverse("policies"))
    del request.session[_KEY]
    previews.record_end(preview.person, by=cast("User", request.user))
    query = urlencode({"user": preview.person.get_username()})
    return HttpResponseRedirect(f"{reverse('admin:documents_labelgrant_person')}?{query}")
