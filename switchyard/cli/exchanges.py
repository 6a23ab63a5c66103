"""HTTP requests and their answers, from the transcripts that an action's events point to."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.text import Text

from switchyard.cli.output import printable
from switchyard.errors import SwitchyardError
from switchyard.store import open_store
from switchyard.transcript import FIELD, read_transcript

MOST = 5  # the latest; `switchyard events --json` has the places of all
_LONGEST = 500  # characters of a body on a terminal; JSON has everything that is stored


def exchanges_of(events: Iterable[Mapping[str, Any]], store_url: str) -> list[Any]:
    """The latest transcripts, the oldest first; an error in place of one that cannot be read."""
    pointing = [event for event in events if FIELD in (event["detail"] or {})]
    read = (_read(event["detail"], store_url) for event in pointing[-MOST:])
    return [exchange for exchange in read if exchange is not None]


def _read(detail: Mapping[str, Any], store_url: str) -> Any:
    try:
        return read_transcript(open_store(store_url), detail)
    except (SwitchyardError, OSError) as error:
        return {"error": f"the transcript cannot be read: {error}"}


def exchange_texts(exchanges: Iterable[Mapping[str, Any]]) -> list[Text]:
    """For the terminal."""
    return [text for exchange in exchanges for text in (Text(), *_lines(exchange))]


def _lines(exchange: Mapping[str, Any]) -> Iterable[Text]:
    title = f"exchange of run {exchange.get('run', '?')}, attempt {exchange.get('attempt', '?')}"
    if "seconds" in exchange:
        title += f", {exchange['seconds']:.3f} s"
    yield Text(title)
    request, response = exchange.get("request"), exchange.get("response")
    if request:
        yield from _side("→", f"{request['method']} {request['url']}", request)
    if response:
        yield from _side("←", f"{response['status']} {response['reason']}", response)
    if exchange.get("error"):
        yield Text(f"  {printable(exchange['error'])}", style="red")


def _side(arrow: str, first: str, message: Mapping[str, Any]) -> Iterable[Text]:
    yield Text(f"  {arrow} {printable(first)}")
    for name, value in message["headers"].items():
        yield Text(f"    {printable(name)}: {printable(value)}", style="dim")
    if message.get("body"):
        rest = " …" if message.get("cut") or len(message["body"]) > _LONGEST else ""
        yield Text(f"    {printable(message['body'][:_LONGEST])}{rest}")
