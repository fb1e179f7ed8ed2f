"""Where each page and each part of the API lives."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("qa.api.urls")),
    path("evaluation/", include("evaluation.urls")),
    path("", include("qa.pages.urls")),
]

handler500 = "qa.pages.errors.server_error"
