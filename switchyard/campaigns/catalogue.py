"""A STAC search: its items in the order of its pages. Each becomes the parameter `item` of one action.

pystac-client opens the catalogue, finds its search and formats the query. The pages are followed here, from
the link in a cursor, so that a campaign continues where it stopped. Responses are untrusted. Credentials are
sent only to the catalogue's own origin, whatever its links say, and no redirect is followed with them.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import urllib3
from pystac_client import Client
from pystac_client.exceptions import APIError
from pystac_client.stac_api_io import StacApiIO

from switchyard.campaigns.page import REJECTED, Cursor, Item, Page, item
from switchyard.config.names import check_endpoint
from switchyard.errors import BadInput, Transient

TIMEOUT = 60.0  # seconds without an answer
TRIES = 6  # with waits of 0.5, 1, 2, … seconds, or as long as Retry-After says
LONGEST_WAIT = 60.0
AGAIN = (408, 429, 500, 502, 503, 504)


class _Patient(urllib3.Retry):
    """Waits as long as Retry-After says, up to a limit."""

    def get_retry_after(self, response: Any) -> float | None:
        wanted = super().get_retry_after(response)
        return None if wanted is None else min(wanted, LONGEST_WAIT)


class SearchSource:
    """Reads the search page by page."""

    def __init__(self, url: str, search: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        try:
            self._url = check_endpoint(url)
        except ValueError as error:
            raise BadInput(f"--from-stac: {error}") from None
        self._search = dict(search)
        retries = _Patient(
            TRIES, backoff_factor=0.5, status_forcelist=AGAIN, allowed_methods=None, raise_on_status=False
        )
        self._headers = dict(headers or {})
        self._api = StacApiIO(max_retries=retries, timeout=TIMEOUT, request_modifier=self._signed)
        if self._headers:
            self._api.session.max_redirects = 0
        self._first: Cursor | None = None

    def description(self) -> dict[str, Any]:
        """The catalogue and the query."""
        return {"stac": self._url, "search": self._search}

    def page(self, cursor: Cursor) -> Page:
        """The page behind the cursor's link; the first page for an empty cursor."""
        request = cursor or self._begin()
        try:
            page = self._answer(request)
        except BadInput as error:
            if not cursor:
                raise
            raise BadInput(
                f"{error}: the link to this page is refused; if it has expired, start another campaign"
            ) from error
        features = page.get("features")
        if not isinstance(features, list):
            raise BadInput(f"{request['href']}: the answer is not a list of items")
        following = _next(page, request)
        if following == request:
            raise BadInput(f"{request['href']}: the link to the next page leads to the page itself")
        return Page([_item(each) for each in features], following or cursor, last=following is None)

    def _signed(self, request: Any) -> Any:
        if _origin(request.url) == _origin(self._url):
            request.headers.update(self._headers)
        return request

    def _begin(self) -> Cursor:
        """The first request: the catalogue says where and how it is searched."""
        if self._first is None:
            words = {name.replace("-", "_"): value for name, value in self._search.items()}
            try:
                # Both are set again on the given `stac_io`.
                client = Client.open(
                    self._url, stac_io=self._api, request_modifier=self._signed, timeout=TIMEOUT
                )
                search = client.search(**words)
            except APIError as error:
                raise _failed(self._url, error) from error
            except Exception as error:  # unknown parameters, wrong types, an unexpected answer
                raise BadInput(f"--search: {self._url} cannot be searched like this: {error}") from error
            body = search.get_parameters()
            self._first = {"href": str(search.url), "method": str(search.method), "body": body}
        return self._first

    def _answer(self, request: Cursor) -> dict[str, Any]:
        try:
            text = self._api.request(
                request["href"], request["method"], request.get("headers"), request["body"]
            )
        except APIError as error:
            raise _failed(request["href"], error) from error
        try:
            page = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{request['href']}: the answer is not JSON") from error
        return page if isinstance(page, dict) else {}


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _failed(where: str, error: APIError) -> BadInput | Transient:
    """The error for a refusal, or for no answer after all attempts."""
    said = " ".join(str(error).split())[:500]
    code = getattr(error, "status_code", None)  # missing if there was no answer
    refused = code is not None and code not in AGAIN
    what = f"{where}: {said}" if code is None else f"{where}: status {code}: {said}"
    return BadInput(what) if refused else Transient(what)


def _next(page: Mapping[str, Any], request: Cursor) -> Cursor | None:
    """The request for the next page, from the page's link; None at the end."""
    links = page.get("links")
    listed = links if isinstance(links, list) else []
    link = next((each for each in listed if isinstance(each, dict) and each.get("rel") == "next"), None)
    if link is None:
        return None
    href, method = link.get("href"), str(link.get("method", "GET")).upper()
    body, headers = link.get("body") or {}, link.get("headers")
    good = isinstance(href, str) and method in {"GET", "POST"} and isinstance(body, dict)
    whole = urljoin(request["href"], href) if good else ""
    if not whole.startswith(("http://", "https://")) or not isinstance(headers, dict | None):
        raise BadInput(f"{request['href']}: the link to the next page is broken")
    if link.get("merge"):
        body = {**request["body"], **body}
    found: Cursor = {"href": whole, "method": method, "body": body if method == "POST" else {}}
    return found if headers is None else {**found, "headers": headers}


def _item(feature: object) -> Item:
    """The campaign item of a feature. Ids are only unique within a collection."""
    if not isinstance(feature, dict) or not isinstance(name := feature.get("id"), str) or not name:
        return REJECTED
    collection = feature.get("collection")
    return item(f"{collection}/{name}" if isinstance(collection, str) else name, {"item": feature})
