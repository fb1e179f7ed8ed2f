"""The addresses of the evaluation pages."""

from django.urls import path

from evaluation import views

urlpatterns = [
    path("", views.runs, name="evaluation-runs"),
    path("<uuid:public_id>/", views.run, name="evaluation-run"),
]
