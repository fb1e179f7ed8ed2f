"""The ASGI application: pages, API and event streams."""

import os

from legalqa.services import ensure_running

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "legalqa.settings")
os.environ.setdefault("LEGALQA_PROCESS", "web")
ensure_running()

from django.core.asgi import get_asgi_application  # noqa: E402 - the services must run first

application = get_asgi_application()

from documents.checks import refuse_unsafe_role  # noqa: E402 - Django must be set up first

refuse_unsafe_role()
