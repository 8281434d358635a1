"""What every response says to browsers."""

import pytest

from askfew.campaigns.store import Store
from web_site import API, Site

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    "path", [API, "/api/v1/none", "/docs", "/openapi.json", "/static/docs.js", "/none", "/login"]
)
def test_every_response_has_the_headers(site: Site, path: str) -> None:
    for client in (site.owner, site.nobody):
        headers = client.get(path, follow_redirects=False).headers
        assert {name: headers[name] for name in HEADERS} == HEADERS
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "strict-transport-security" not in headers


def test_what_is_said_to_one_is_not_kept_for_another(site: Site) -> None:
    assert site.owner.get(API).headers["cache-control"] == "no-store"


def test_behind_tls_browsers_are_told_to_stay_with_it(store: Store) -> None:
    site = Site(store, secure=True)
    assert "max-age" in site.nobody.get("/docs").headers["strict-transport-security"]


def test_the_page_of_the_api_loads_nothing_from_elsewhere(site: Site) -> None:
    page = site.nobody.get("/docs").text
    assert "http" not in page
    for file in ("vendor/swagger-ui/swagger-ui-bundle.js", "vendor/swagger-ui/LICENSE", "docs.js"):
        assert site.nobody.get(f"/static/{file}").status_code == 200


def test_a_page_that_is_not_there_says_so_in_a_page(site: Site) -> None:
    came = site.nobody.get("/nowhere/<script>")
    assert came.status_code == 404
    assert came.headers["content-type"].startswith("text/html")
    assert "<h1>Not Found</h1>" in came.text
    assert "Nothing is at this address: check it" in came.text
    assert "<script>" not in came.text.replace("<script src=", "")
