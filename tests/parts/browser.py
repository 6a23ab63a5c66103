"""A real browser: Debian's Chromium, driven by Playwright; axe-core looks for what shuts people out."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, sync_playwright

from tests.parts.cache import UnavailableError

# No window and no connection of its own: the machine may have no way out.
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
FLAGS += ["--disable-component-update"]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
Scheme = Literal["light", "dark"]


@dataclass
class Sight:
    """A page that records what must not happen: errors on the console, and requests to other hosts."""

    page: Page
    origin: str
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("request", self._on_request)

    def open(self, path: str, status: int = 200) -> Page:
        """Go there; the answer has that status."""
        answer = self.page.goto(self.origin + path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}\n{answer.text()[:2000]}"
        return self.page

    def violations(self) -> list[str]:
        """What axe-core finds against WCAG 2.2 A and AA and good practice."""
        found = (
            Axe().run(self.page, options={"runOnly": {"type": "tag", "values": RULES}}).response["violations"]
        )
        return [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
            for rule in found
            for node in rule["nodes"]
        ]

    def _on_console(self, message: ConsoleMessage) -> None:
        # A page that is meant to be an error is not one on the console.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.problems.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if urlsplit(request.url).scheme in ("http", "https") and not request.url.startswith(
            self.origin + "/"
        ):
            self.problems.append(f"request to another host: {request.url}")


class Chromium:
    """The browser; `sight()` opens a window of its own, without cookies."""

    def __init__(self) -> None:
        binary = shutil.which("chromium")
        if binary is None:
            raise UnavailableError("chromium is not installed")
        self._driver: Playwright = sync_playwright().start()
        try:
            self._browser: Browser = self._driver.chromium.launch(executable_path=binary, args=FLAGS)
        except BaseException:
            self._driver.stop()
            raise

    @contextmanager
    def sight(
        self, origin: str, scheme: Scheme = "light", width: int = 1400, **options: Any
    ) -> Iterator[Sight]:
        """A window; at its end nothing may have gone wrong in it."""
        size: Any = {"width": width, "height": 900}
        with self._browser.new_context(
            viewport=size, color_scheme=scheme, timezone_id="Europe/London", **options
        ) as context:
            sight = Sight(context.new_page(), origin)
            yield sight
            assert not sight.problems, "\n".join(sight.problems)

    def close(self) -> None:
        self._browser.close()
        self._driver.stop()
