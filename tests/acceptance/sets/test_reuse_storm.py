"""Results are computed once per key, whichever whole process is killed while they are recorded and handed on."""

import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from tests.acceptance.sets.killing import Killing

KEYS, THREADS, EACH = 20, 16, 5
LEAST_KILLS, MOST_KILLS = 5, 25
SUBMIT = """
    select switchyard.submit('run', %s, workflow => 'tile')
"""
OPEN = "select (select count(*) from switchyard.yard) + (select count(*) from switchyard.thread where callbacks_due)"
ASKED = """
    select a.action_uuid, a.parameters ->> 'tile', t.status::text, (switchyard.reused(a.action_uuid, t.run) ->> 'action')::uuid
    from switchyard.action a join switchyard.thread t using (action_uuid) where a.workflow = 'tile'
"""
CALLBACKS = """
    select parent_uuid, array_agg(callback), array_agg((parameters ->> 'n')::int) from switchyard.action
    where parent_uuid is not null group by 1
"""


@pytest.mark.timeout(400)
def test_each_key_is_computed_once_whichever_process_is_killed(killing: Killing) -> None:
    killing.start()
    with ThreadPoolExecutor(THREADS) as pool:
        asking = [pool.submit(_asks, killing, seed) for seed in range(THREADS)]

        def over() -> bool:
            asked = all(each.done() for each in asking)
            return asked and killing.database.execute(OPEN) == [(0,)]

        killing.kill_until(over, most=MOST_KILLS)
        for each in asking:
            each.result()
    assert {"conductor", "caboose"} <= set(killing.victims)
    assert len(killing.victims) >= LEAST_KILLS
    found = {row[0]: row[1:] for row in killing.database.execute(ASKED)}
    assert len(found) == THREADS * EACH
    assert Counter(status for _, status, _ in found.values()) == {"SUCCESSFUL": THREADS * EACH}
    computed = {uuid: tile for uuid, (tile, _, reused) in found.items() if reused is None}
    assert sorted(computed.values()) == sorted({tile for tile, _, _ in found.values()})
    assert all(computed.get(reused) == tile for tile, _, reused in found.values() if reused is not None)
    starts = Counter(killing.starts.read_text().splitlines())
    assert {UUID(line.split()[0]) for line in starts} == set(computed), (
        "who was given a result was not started"
    )
    assert set(starts.values()) == {1}
    numbers = {uuid: int(tile) for uuid, (tile, _, _) in found.items()}
    called = {parent: (names, given) for parent, names, given in killing.database.execute(CALLBACKS)}
    assert called == {uuid: (["done"], [number]) for uuid, number in numbers.items()}
    assert killing.database.execute("select * from switchyard.verify()") == []


def _asks(killing: Killing, seed: int) -> None:
    chance = random.Random(seed)
    with killing.database.connect() as own:
        for _ in range(EACH):
            time.sleep(chance.uniform(0, 3))  # callers come while the killing goes on
            tile = chance.randrange(KEYS)
            own.execute(SUBMIT, [_parameters(tile, chance)])


def _parameters(tile: int, chance: random.Random) -> Any:
    seconds = round(chance.uniform(0, 1.5), 2)
    return f'{{"tile": {tile}, "n": {tile}, "seconds": {seconds}, "codes": [], "items": 0}}'
