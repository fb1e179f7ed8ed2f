"""The addresses of the pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from qa.pages import health, preview, views

urlpatterns = [
    path("", views.ask, name="ask"),
    path("policies/", views.policies, name="policies"),
    path("policies/<str:slug>/", views.policy, name="policy"),
    path("policies/<str:slug>/history/", views.policy_history, name="policy-history"),
    path(
        "policies/<str:slug>/changes/<int:older>/<int:newer>/",
        views.policy_changes,
        name="policy-changes",
    ),
    path("policies/<str:slug>/versions/<int:number>/file", views.file, name="policy-file"),
    path(
        "policies/<str:slug>/versions/<int:number>/pages/<int:page>/",
        views.page,
        name="policy-page",
    ),
    path(
        "policies/<str:slug>/versions/<int:number>/pages/<int:page>.png",
        views.page_image,
        name="policy-page-image",
    ),
    path("sections/<uuid:public_id>/", views.section, name="section"),
    path("history/", views.history, name="history"),
    path("history/<uuid:public_id>/", views.past_answer, name="past-answer"),
    path("preview/", preview.start, name="preview"),
    path("preview/end/", preview.end, name="preview-end"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", include("django.conf.urls.i18n")),
    path("healthz", health.healthz, name="healthz"),
]
