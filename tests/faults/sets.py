"""Asks for sets in a thread of its own, while the storm lasts: in every round a schedule, a campaign, a join, and
callers of a workflow whose results are reused.

Each request is safe to repeat: by its name, by its idempotency key, or by the cursor of the campaign.
"""

import json
import math
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import LiteralString
from uuid import UUID

from tests.faults.asking import Asking
from tests.faults.load import CANCEL, SUBMIT, Asked
from tests.faults.set_works import BOTH, CAMPAIGN, CANCELED_TILE, CHILDREN, JOIN, TILE
from tests.faults.works import Work

EVERY = 2  # seconds between two ticks; a jump of the server's clock by four minutes makes 120 at once
WINDOW = 600  # seconds: longer than any jump, so that no tick may be missed
ITEMS, PAGE, IN_FLIGHT = 60, 4, 10
CHILDREN_OF_A_JOIN = 12
TILES, CALLERS = 4, 5

APPLY: LiteralString = "select switchyard.apply_schedule(%s, %s::jsonb, %s::timestamptz, 0, 'the campaign')"
PAUSE: LiteralString = "select switchyard.pause_schedule(%s, 'the campaign', 'the round is over')"
START: LiteralString = """
    select switchyard.start_campaign(%s, '{"made": "by the campaign"}', %s, action_name => 'often', callbacks => %s)
"""
CURSOR: LiteralString = "select cursor, complete from switchyard.campaign where action_uuid = %s"
FEED: LiteralString = "select switchyard.feed(%s, %s, %s, %s, %s)"
JOIN_AFTER: LiteralString = """
    select switchyard.submit('often', %s, correlation_id => %s, idempotency_key => %s, callbacks => %s, after => %s, after_policy => 'ended')
"""


@dataclass
class Wanted:
    """What should have come of one round."""

    schedule: str
    first_tick: int  # in seconds since 1970
    campaign: UUID | None = None
    join: UUID | None = None
    children: list[UUID] = field(default_factory=list)
    tiles: dict[str, list[UUID]] = field(default_factory=dict)  # who asked for each


class Sets:
    """Remembers what it asked for in each round."""

    def __init__(self, url: str, seed: int) -> None:
        self._asking = Asking(url, "sets")
        self._chance = random.Random(f"sets {seed}")
        self.submitted: dict[UUID, Asked] = {}
        self.rounds: list[Wanted] = []

    def begin(self, seconds: float) -> threading.Thread:
        """Everything of one round, spread over that time; join the thread to know that it is in the ledger."""
        number = len(self.rounds) + 1
        wanted = Wanted(f"round {number}", EVERY * math.ceil(time.time() / EVERY + 1))
        self.rounds.append(wanted)
        requests = self._requests(wanted, number)
        thread = threading.Thread(target=_paced, args=(requests, seconds), daemon=True)
        thread.start()
        return thread

    def end(self) -> None:
        """No more ticks: without this a round would never settle."""
        self._asking.one(PAUSE, self.rounds[-1].schedule)

    def close(self) -> None:
        """Give the connection back."""
        self._asking.close()

    def _requests(self, wanted: Wanted, number: int) -> list[Callable[[], None]]:
        pages = ITEMS // PAGE * [lambda: self._page(wanted)]
        tiles = [
            lambda tile=f"{number}-{tile}": self._tile(wanted, tile)
            for tile in range(TILES)
            for _ in range(CALLERS)
        ]
        mixed: list[Callable[[], None]] = [*pages, *tiles, lambda: self._join(wanted)]
        self._chance.shuffle(mixed)
        return [
            lambda: self._schedule(wanted),
            lambda: self._campaign(wanted),
            *mixed,
            lambda: self._rest(wanted),
        ]

    def _schedule(self, wanted: Wanted) -> None:
        definition = {
            "action_name": "drill", "parameters": {"n": len(self.rounds)}, "time_parameter": "at", "priority": 100, "every": EVERY,
            "timezone": "UTC", "overlap": "allow", "catch_up": "all", "catch_up_window": WINDOW, "jitter": 0,
        }  # fmt: skip
        first = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wanted.first_tick))
        self._asking.one(APPLY, wanted.schedule, json.dumps({**definition, "starts_at": first}), first)

    def _campaign(self, wanted: Wanted) -> None:
        wanted.campaign = self._asking.one(START, wanted.schedule, IN_FLIGHT, json.dumps(BOTH))
        self.submitted[wanted.campaign] = Asked(f"campaign {wanted.schedule}", CAMPAIGN, {})

    def _page(self, wanted: Wanted) -> None:
        """The next page, whichever that is; a page whose answer was lost is not given again."""
        cursor, complete = self._asking.row(CURSOR, wanted.campaign)
        if complete:
            return
        place = cursor.get("place", 0)
        items = [item(number) for number in range(place, min(place + PAGE, ITEMS))]
        following = {"place": place + PAGE}
        last = place + PAGE >= ITEMS
        self._asking.one(
            FEED, wanted.campaign, json.dumps(cursor), json.dumps(items), json.dumps(following), last
        )

    def _rest(self, wanted: Wanted) -> None:
        """Read to the end: a repeated page above may have left one."""
        while not self._asking.row(CURSOR, wanted.campaign)[1]:
            self._page(wanted)

    def _join(self, wanted: Wanted) -> None:
        shares = [work.share for work in CHILDREN]
        chosen = self._chance.choices(CHILDREN, shares, k=CHILDREN_OF_A_JOIN)
        wanted.children = [self._submit(work, f"{place}") for place, work in enumerate(chosen)]
        key = f"join {wanted.schedule}"
        parameters = JOIN.make(self._chance, len(self.rounds))
        wanted.join = self._asking.one(
            JOIN_AFTER, json.dumps(parameters), key, key, json.dumps(BOTH), wanted.children
        )
        self.submitted[wanted.join] = Asked(key, JOIN, parameters)

    def _tile(self, wanted: Wanted, tile: str) -> None:
        callers = wanted.tiles.setdefault(tile, [])
        work = CANCELED_TILE if self._chance.random() < 0.1 else TILE
        uuid = self._submit(work, f"{tile} {len(callers)}", tile=tile)
        callers.append(uuid)
        if work.cancel:
            self._asking.one(CANCEL, uuid)

    def _submit(self, work: Work, name: str, **more: str) -> UUID:
        key = f"{work.name} {self.rounds[-1].schedule} {name}"
        parameters = {**work.make(self._chance, len(self.rounds)), **more}
        given = (work.action, json.dumps(parameters), work.workflow, key, key, None)
        uuid: UUID = self._asking.one(SUBMIT, *given)
        self.submitted[uuid] = Asked(key, work, parameters)
        return uuid


def item(number: int) -> dict[str, object]:
    """An item of the campaign's source."""
    return {"id": f"item {number}", "parameters": {"how": "accept", "n": number}}


def _paced(requests: list[Callable[[], None]], seconds: float) -> None:
    began = time.monotonic()
    for place, request in enumerate(requests):
        time.sleep(max(0.0, began + seconds * place / len(requests) - time.monotonic()))
        request()
