"""HTTP/1.1 by uvicorn, with heads of a bounded size: uvicorn's own parser does not limit headers."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from signalbox.problem import HttpProblem

MOST = 200
LARGEST = 64 * 1024
LINGER = 2.0


class _TooLargeError(Exception):
    """The parser turns what a callback raises into an invalid request."""


class BoundedHeads(HttpToolsProtocol):
    """Refuses requests with over 200 headers or 64 KiB of them with 431, and other protocols with 400."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._head = 0
        self._collected = 0
        self._refused = False

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._collected += len(data)
        super().data_received(data)
        if self._collected > LARGEST and not self._refused:
            self._refuse(431)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = self._collected = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._collected = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._collected = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        del msg
        self._refuse(431 if self._head > LARGEST or len(self.headers or ()) >= MOST else 400)

    def _count(self, size: int) -> None:
        self._head += size
        self._collected = 0
        if self._head > LARGEST or len(self.headers) >= MOST:
            raise _TooLargeError

    def _refuse(self, status: int) -> None:
        """Answer, and read on for a while: closing the connection at once could lose the answer."""
        self._refused = True
        detail = (
            f"at most {MOST} headers and {LARGEST} bytes of them" if status == 431 else "this is not HTTP/1.1"
        )
        content = HttpProblem(status, detail).problem.model_dump_json(exclude_none=True).encode()
        head = b"content-type: application/problem+json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head % len(content) + content)
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write_eof()
            self.loop.call_later(LINGER, self.transport.close)
        else:
            self.transport.close()
