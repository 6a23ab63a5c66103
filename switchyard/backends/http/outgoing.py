"""One request, ready to go, beside the form of it that people may see."""

from dataclasses import dataclass, field

from yarl import URL


@dataclass(slots=True)
class Outgoing:
    """What is sent. `derived`: texts in it that were made from secrets; `private`: headers that hold such."""

    uuid: str
    method: str
    url: URL
    headers: dict[str, str]
    private: frozenset[str] = frozenset()
    body: bytes = b""
    secret_body: bool = False  # made from a secret: for the first host only
    shown_url: str = ""
    shown_body: bytes = b""
    derived: list[str] = field(default_factory=list)
