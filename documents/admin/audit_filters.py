"""What narrows the list of audit events: kinds of act and object, person, object, days."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from documents.models import AuditEvent

_OTHER_PAGES = ("p", "e", "all")  # of the list, not worth keeping when it is narrowed


class ActionFilter(admin.SimpleListFilter):
    """By what was done, offering what the person may see."""

    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The kinds on record."""
        rows = model_admin.get_queryset(request).order_by(self.parameter_name)
        names = rows.values_list(self.parameter_name, flat=True).distinct()
        return [(name, name) for name in names if name]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        """The events of that kind."""
        if not self.value():
            return queryset
        return queryset.filter(**{self.parameter_name: self.value()})


class TypeFilter(ActionFilter):
    """By the kind of object."""

    title = "kind of object"
    parameter_name = "object_type"


class WrittenFilter(admin.ListFilter):
    """By what is typed in; nonsense matches nothing."""

    template = "admin/documents/auditevent/written_filter.html"
    fields: ClassVar[dict[str, str]] = {}  # parameter: label
    kind: ClassVar[str] = "text"

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        self._others = [
            (name, value)
            for name, values in request.GET.lists()
            for value in values
            if name not in self.fields and name not in _OTHER_PAGES
        ]
        for name in self.fields:
            given = params.pop(name, None)
            if given:
                self.used_parameters[name] = given[-1].strip()

    def has_output(self) -> bool:
        """Always there to be typed into."""
        return True

    def expected_parameters(self) -> list[str | None]:
        """The names in the address."""
        return list(self.fields)

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        """One form."""
        yield {
            "inputs": [
                (name, label, self.used_parameters.get(name, ""))
                for name, label in self.fields.items()
            ],
            "kind": self.kind,
            "others": self._others,
        }

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        """The events that fit all that was typed."""
        for name, value in self.used_parameters.items():
            queryset = queryset.filter(self._fits(name, str(value))) if value else queryset
        return queryset

    def _fits(self, name: str, value: str) -> Q:
        raise NotImplementedError


class PersonFilter(WrittenFilter):
    """By the exact user name of who acted."""

    title = "person"
    fields: ClassVar = {"actor": "User name"}

    def _fits(self, name: str, value: str) -> Q:
        return Q(actor_name=value.replace("\0", ""))


class ObjectFilter(WrittenFilter):
    """By the id of what was acted on."""

    title = "object"
    fields: ClassVar = {"object": "Id"}

    def _fits(self, name: str, value: str) -> Q:
        return Q(object_id=value.replace("\0", ""))


class DayFilter(WrittenFilter):
    """From a day to a day, both included, in the office's time zone."""

    title = "day"
    kind = "date"
    fields: ClassVar = {"from": "First day", "to": "Last day"}

    def _fits(self, name: str, value: str) -> Q:
        try:
            day = datetime.date.fromisoformat(value)
            following = day + datetime.timedelta(days=1)
        except (ValueError, OverflowError):
            return Q(pk__in=[])
        return Q(at__gte=_midnight(day)) if name == "from" else Q(at__lt=_midnight(following))


def _midnight(day: datetime.date) -> datetime.datetime:
    zone = ZoneInfo(settings.OFFICE_TIME_ZONE)
    return datetime.datetime.combine(day, datetime.time(), tzinfo=zone)
