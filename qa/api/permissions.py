"""What a caller may do: a key needs the scope, and its user the right, as a person does."""

from __future__ import annotations

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from qa.api.authentication import key_of
from qa.models import ApiKey

Scope = ApiKey.Scope
_FOR_EVERYONE = frozenset({Scope.ASK, Scope.READ})  # a log-in is enough
_RIGHTS = {
    Scope.INGEST: "documents.add_policyversion",
    Scope.REVIEW: "documents.approve_version",
    Scope.EVALUATE: "evaluation.add_evaluationrun",
    Scope.ADMIN: "documents.change_labelgrant",
}


def may(request: Request, scope: Scope) -> bool:
    """Whether the caller may use `scope`: the key's scopes and the user's rights both say so."""
    if not request.user.is_authenticated:
        return False
    key = key_of(request)
    if key is not None and scope not in key.scopes:
        return False
    return scope in _FOR_EVERYONE or request.user.has_perm(_RIGHTS[scope])


def has_scope(scope: Scope) -> type[BasePermission]:
    """A permission class that asks for one scope."""

    class HasScope(BasePermission):
        """Lets in whoever may use the scope."""

        message = f"This needs the scope {scope.value} and the right that goes with it."

        def has_permission(self, request: Request, view: APIView) -> bool:
            """Whether the caller may use the scope."""
            return may(request, scope)

    return HasScope
