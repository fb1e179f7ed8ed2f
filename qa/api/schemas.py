"""What goes out, as the published schema tells it, with one example each.

The values themselves are made in `qa.answering.present`, for every door alike; a test holds
them against these declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers

from qa.answering.verify import CHECKS
