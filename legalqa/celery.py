"""The Celery application: `celery -A legalqa worker`, `celery -A legalqa beat`."""

import os

from celery import Celery
from celery.signals import worker_init, worker_process_init

from legalqa.services import ensure_running

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "legalqa.settings")
app = Celery("legalqa")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def _start_services(sender: Celery, **_: object) -> None:
    """A worker or beat on a trial machine brings the embedded services up itself."""
    ensure_running()


@worker_init.connect
def _refuse_unsafe_role(**_: object) -> None:
    """A worker does not start with a role that could bypass the policies."""
    from django.core.exceptions import ImproperlyConfigured

    from documents.checks import refuse_unsafe_role

    try:
        refuse_unsafe_role()
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from error  # Celery swallows an Exception of a receiver


@worker_process_init.connect
def _forget_connections(**_: object) -> None:
    """A forked child may not use its parent's database connections."""
    from django.db import connections

    connections.close_all()
