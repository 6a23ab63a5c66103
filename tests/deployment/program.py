"""A spawned process with our log lines and a health server: one of our programs, or an assessment worker."""

import json
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from typing import Any

from tests.parts.process import Process
from tests.waiting import until


class Service(Process, ABC):
    """What it logged, and what its health server answers."""

    def lines(self) -> list[dict[str, Any]]:
        """What it logged."""
        text = self.log.read_text().splitlines()
        return [json.loads(line) for line in text if line.startswith("{") and line.endswith("}")]

    def said(self, event: str) -> bool:
        """Whether it logged an event that starts so."""
        return any(line["event"].startswith(event) for line in self.lines())

    def get(self, path: str) -> tuple[int, str]:
        """What its health server answers; (0, "") where it does not."""
        address = self._address()
        if not address:
            return 0, ""
        try:
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    @abstractmethod
    def _address(self) -> str:
        """Of its health server; "" while it is not known."""


class Program(Service):
    """Its log is in the test's folder, where the search for leaked secrets looks."""

    def health(self) -> str:
        """The address of its health server; waits until it listens."""
        return until(self._address, 60)

    def _address(self) -> str:
        listens = [line for line in self.lines() if line["event"] == "health server listens"]
        return f"http://127.0.0.1:{listens[-1]['port']}" if listens else ""
