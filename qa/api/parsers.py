"""JSON as it comes in: whatever cannot be read is a 400, never a fault of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class JsonParser(JSONParser):
    """DRF's, which lets the errors of deep nesting and of odd charsets through."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The parsed body.

        Raises:
            ParseError: it is no JSON, is nested too deeply, or its charset is no text encoding.
        """
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        except (LookupError, TypeError, AttributeError) as error:
            raise ParseError("The charset of the body is no text encoding.") from error
