"""The published schema and Swagger UI, for whoever is signed in."""

from __future__ import annotations

from django.contrib.auth.mixins import LoginRequiredMixin
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import IsAuthenticated

from qa.api.authentication import ApiKeyAuthentication


class SchemaView(SpectacularAPIView):
    """OpenAPI 3.1, as JSON or YAML."""

    authentication_classes = (ApiKeyAuthentication, SessionAuthentication)
    permission_classes = (IsAuthenticated,)


class SwaggerView(LoginRequiredMixin, SpectacularSwaggerSplitView):
    """Swagger UI from our own files; its script is a file of its own, as the CSP asks."""

    authentication_classes = (SessionAuthentication,)
    permission_classes = (IsAuthenticated,)
    url_name = "api-schema"
