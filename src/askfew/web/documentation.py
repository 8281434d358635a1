"""What the API says about itself: the OpenAPI document, and a page that shows it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from askfew.web.problems import MEDIA_TYPE, ProblemDetails

__all__ = ["install"]

_ABOUT = """Ask, tell and watch the campaigns of a store.

Send a token with every request: `Authorization: Bearer TOKEN`. The owner's is printed when the
store is first served; a worker's comes with their invitation. Errors are problem documents
(RFC 9457).
"""
_ERRORS = {
    400: "The request cannot be read.",
    401: "There is no valid token.",
    403: "The sender of the request is not allowed to do this.",
    404: "There is no such campaign, worker or picture.",
    409: "The campaign does not go on with this askfew; the sentence says what to do.",
    413: "The body is too large.",
    422: "Something in the request cannot be used; the sentence says what.",
    429: "Too many wrong tokens came from this address: wait.",
    503: "The store does not answer: try again soon.",
}
_REFERENCE = {"$ref": "#/components/schemas/ProblemDetails"}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>askfew: the API</title>
<link rel="icon" href="/static/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/vendor/swagger-ui/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/static/vendor/swagger-ui/swagger-ui-bundle.js"></script>
<script src="/static/docs.js"></script>
</body>
</html>
"""


def install(app: FastAPI) -> None:
    """Describe the routes of this app, and serve the page."""
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    app.add_route("/docs", _page, include_in_schema=False)


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title="askfew", version=app.version, description=_ABOUT, routes=app.routes
        )
        schemas = document["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        schemas["ProblemDetails"] = ProblemDetails.model_json_schema()
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].update(_errors())
        app.openapi_schema = document
    return app.openapi_schema


def _errors() -> dict[str, Any]:
    return {
        str(status): {"description": words, "content": {MEDIA_TYPE: {"schema": _REFERENCE}}}
        for status, words in _ERRORS.items()
    }


def _page(_: Request) -> Response:
    return HTMLResponse(_PAGE)
