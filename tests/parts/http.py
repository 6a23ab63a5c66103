"""Waiting for a part that speaks HTTP."""

import urllib.error
import urllib.request

from tests.parts.process import Process
from tests.waiting import until


def until_answers(process: Process, url: str, seconds: float = 60) -> None:
    """Wait until something answers at `url`, whatever it says; fail at once if the process ends."""

    def answers() -> bool:
        assert process.running(), f"{process.name} ended:\n{process.log.read_text()[-4000:]}"
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except urllib.error.HTTPError as error:
            error.close()
        except OSError:
            return False
        return True

    until(answers, seconds, every=0.05)
