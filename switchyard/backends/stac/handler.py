"""The stac handler: creates an item, or updates it where it exists.

The item's id makes it safe to repeat: a create that went through unseen answers 409 the next time, and the
update then writes the same item again.
"""

from typing import Any
from urllib.parse import quote

from switchyard.backends.http.delivery import DeliveringHandler, Exchange, invalid
from switchyard.backends.http.request import OutgoingRequest, RequestError
from switchyard.backends.http.rules import ResponseOutcome
from switchyard.backends.http.settings import authorization
from switchyard.backends.http.template import FAULTS
from switchyard.backends.http.url import parse_url, shown
from switchyard.backends.stac.item import ItemError, ItemTemplate
from switchyard.backends.stac.model import StacAction
from switchyard.config.sandbox import as_json
from switchyard.handlers import Draft, HandlerContext, Outcome, Work
from switchyard.process import tracing

_RETRY = frozenset({408, 425, 429})
_EXISTS = 409
_GONE = 404
_BROKEN = 500


class StacHandler(DeliveringHandler):
    """Publishes items to a STAC API with the Transaction extension."""

    def __init__(self, name: str, action: StacAction, context: HandlerContext) -> None:
        super().__init__(name, action, context.store)
        self._stac = action
        self._items = ItemTemplate(action)
        self._authorization = authorization(action.auth)
        self._correlation_header = context.config.correlation_header

    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Create the item, or update it where it exists."""
        try:
            item = self._items.build(work)
            create, update, look = self._requests(work, item)
        except ValueError as refusal:
            return invalid(refusal)
        exchange = await self._send(create)
        if _status(exchange) == _EXISTS:
            exchange = await self._send(update)
        elif _status(exchange) == _BROKEN:
            # pgstac answers a create in a collection that does not exist like that: no retry would help.
            looked = await self._send(look)
            if _status(looked) is None:  # a server that failed may close the connection that was reused
                looked = await self._send(look)
            exchange = looked if _status(looked) == _GONE else exchange
        return self._drafted(work, exchange, _judged(exchange))

    def _requests(self, work: Work, item: dict[str, Any]) -> tuple[OutgoingRequest, ...]:
        """To create the item, to update it, and to read its collection."""
        body = _encoded(item, self._action.limits.request_body)
        collection = f"{self._stac.url}/collections/{quote(item['collection'], safe='')}"
        return (
            self._request(work, "POST", f"{collection}/items", body),
            self._request(work, "PUT", f"{collection}/items/{quote(item['id'], safe='')}", body),
            self._request(work, "GET", collection, b""),
        )

    def _request(self, work: Work, method: str, place: str, body: bytes) -> OutgoingRequest:
        url = parse_url(place)
        headers = {
            "Accept-Encoding": "identity",
            "User-Agent": "switchyard",
            "Content-Type": "application/geo+json",
        }
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        if work.correlation_id:
            headers[self._correlation_header] = quote(work.correlation_id[:256], errors="replace")
        headers |= tracing.headers()
        private = frozenset({"Authorization"})
        return OutgoingRequest(
            str(work.uuid), method, url, headers, private, body, shown_url=shown(url), shown_body=body
        )


def _encoded(item: dict[str, Any], largest: int) -> bytes:
    try:
        body = as_json(item).encode()
    except FAULTS:
        raise ItemError(
            "the feature holds what JSON cannot: an infinite number, or text that is not Unicode"
        ) from None
    if len(body) > largest:
        raise RequestError(f"the item has {len(body)} bytes, at most {largest} go out")
    return body


def _status(exchange: Exchange) -> int | None:
    return None if exchange.answer is None else exchange.answer.status


def _judged(exchange: Exchange) -> ResponseOutcome:
    if exchange.answer is None:
        return exchange.unanswered
    status = exchange.answer.status
    if 200 <= status < 300:
        return "success"
    if status in _RETRY or 500 <= status < 600:
        return "retry"
    # Gone between the create and the update: somebody deleted it, and the next attempt creates it.
    return "retry" if exchange.request.method == "PUT" and status == _GONE else "failed"
