"""The addresses of the API; everything else below it is a 404 in its own shape."""

from django.urls import path, re_path

from qa.api import docs, lifecycle, originals, problems, uploads, versions, views

urlpatterns = [
    path("v1/ask", views.AskView.as_view(), name="api-ask"),
    path("v1/ask/stream", views.AskStreamView.as_view(), name="api-ask-stream"),
    path("v1/search", views.SearchView.as_view(), name="api-search"),
    path("v1/answers/<uuid:public_id>", views.AnswerView.as_view(), name="api-answer"),
    path("v1/policies", views.PoliciesView.as_view(), name="api-policies"),
    path("v1/sections/<uuid:public_id>", views.SectionView.as_view(), name="api-section"),
    path(
        "v1/sections/<uuid:public_id>/pages/<int:number>",
        originals.PageOfSectionView.as_view(),
        name="api-section-page",
    ),
    path(
        "v1/sections/<uuid:public_id>/pages/<int:number>/image",
        originals.PageImageView.as_view(),
        name="api-section-page-image",
    ),
    path("v1/policies/<str:slug>", lifecycle.PolicyView.as_view(), name="api-policy"),
    path(
        "v1/policies/<str:slug>/versions",
        versions.PolicyVersionsView.as_view(),
        name="api-policy-versions",
    ),
    path(
        "v1/policies/<str:slug>/versions/<int:number>",
        lifecycle.VersionDeletionView.as_view(),
        name="api-policy-version",
    ),
    path(
        "v1/policies/<str:slug>/changes/<int:older>/<int:newer>",
        versions.ChangesView.as_view(),
        name="api-changes",
    ),
    path(
        "v1/policies/<str:slug>/versions/<int:number>/file",
        originals.FileView.as_view(),
        name="api-file",
    ),
    path("v1/ingest", uploads.IngestView.as_view(), name="api-ingest"),
    path("v1/versions/<uuid:public_id>", uploads.VersionView.as_view(), name="api-version"),
    path(
        "v1/versions/<uuid:public_id>/withdraw",
        lifecycle.WithdrawView.as_view(),
        name="api-version-withdraw",
    ),
    path("v1/me", views.MeView.as_view(), name="api-me"),
    path("schema", docs.SchemaView.as_view(), name="api-schema"),
    path("docs", docs.SwaggerView.as_view(), name="api-docs"),
    re_path(r"^", problems.not_found),
]
