"""P7: completed workflows archived, recorded, called back and deleted a second; memory with many of them.

python -m benchmarks.completion [--workflows 2000] [--rounds 3]
python -m benchmarks.completion --memory 50000    # that alone

The bare loop lists pages and deletes what they hold, as many at once as caboose does, and nothing else.
Caboose stands by while the cluster is filled, because the benchmark holds the leader's lock; the time begins
when caboose has it.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

import psutil
import psycopg

from benchmarks.completion.filling import fill, pour, submitted
from benchmarks.completion.station import Station
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.backends.argo.resource import workflows
from switchyard.backends.kubernetes.client import Cluster
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.ledger.migrate import upgrade
from tests.parts.argo import install_definitions
from tests.parts.kubernetes import Cluster as Part

Found = dict[str, float]

AT_ONCE = 100
PATIENCE = 900.0


async def bare(cluster: Cluster, namespace: str) -> None:
    """List a page, delete what is on it, until there is none."""
    path = workflows(namespace)
    while items := (await cluster.get(path, {"limit": AT_ONCE}))["items"]:
        await asyncio.gather(*(cluster.delete(f"{path}/{item['metadata']['name']}") for item in items))


async def until_empty(cluster: Cluster, namespace: str) -> None:
    """Until no workflow is there."""
    left = True
    while left:
        left = bool((await cluster.get(workflows(namespace), {"limit": 1}))["items"])
        await asyncio.sleep(0.05)


async def bare_rate(part: Part, cluster: Cluster, url: str, count: int) -> float:
    """Workflows a second of the bare loop."""
    namespace = part.namespace()
    await fill(cluster, namespace, await asyncio.to_thread(submitted, url, count), "Succeeded")
    began = time.monotonic()
    await bare(cluster, namespace)
    return count / (time.monotonic() - began)


async def caboose_rate(part: Part, cluster: Cluster, url: str, count: int, folder: Path) -> float:
    """Workflows a second of caboose, until all are deleted, recorded and have their callback."""
    namespace = part.namespace()
    async with Station(part, namespace, url, folder) as station:
        uuids = await asyncio.to_thread(submitted, url, count)
        await fill(cluster, namespace, uuids, "Succeeded")
        await station.go()
        began = time.monotonic()
        await asyncio.wait_for(until_empty(cluster, namespace), PATIENCE)
        took = time.monotonic() - began
    with psycopg.connect(url) as connection:
        called = connection.execute(
            "select count(*) from switchyard.action where parent_uuid = any(%s)", [uuids]
        ).fetchone()
    assert called == (count,), f"{called} callbacks of {count}"
    return count / took


async def memory(part: Part, url: str, count: int, folder: Path) -> float:
    """The most MiB that caboose ever held with this many workflows running, all of them in its ledger."""
    namespace = part.namespace()
    uuids = await asyncio.to_thread(submitted, url, count)
    await asyncio.to_thread(pour, part, namespace, uuids, "Running")
    async with Station(part, namespace, url, folder) as station:
        await station.go()
        most = 0
        with psycopg.connect(url, autocommit=True) as connection:
            query = "select count(*) from switchyard.thread where status = 'QUEUED'"
            while connection.execute(query).fetchone() != (0,):
                most = max(most, psutil.Process(station.pid).memory_info().rss)
                await asyncio.sleep(0.5)
        most = max(most, psutil.Process(station.pid).memory_info().rss)
    return most / 2**20


async def throughput(
    part: Part, cluster: Cluster, url: str, options: argparse.Namespace, folder: Path
) -> Found:
    """Caboose and the bare loop, in turns."""
    pairs = []
    for number in range(options.rounds):
        ours = await caboose_rate(part, cluster, url, options.workflows, folder)
        theirs = await bare_rate(part, cluster, url, options.workflows)
        print(f"round {number + 1}: caboose {ours:,.0f}/s, bare loop {theirs:,.0f}/s: {ours / theirs:.2f}")
        pairs.append((ours, theirs))
    return {
        "caboose": statistics.median(a for a, _ in pairs),
        "bare": statistics.median(b for _, b in pairs),
        "ratio": statistics.median(a / b for a, b in pairs),
    }


async def measure(options: argparse.Namespace, url: str, folder: Path) -> Found:
    """What was asked for, on an API server of its own."""
    part = Part()
    cluster = Cluster(Credentials(part.kubeconfig), timeout=60)
    try:
        install_definitions(part)
        if options.memory:
            return {"memory_mib": await memory(part, url, options.memory, folder)}
        return await throughput(part, cluster, url, options, folder)
    finally:
        await cluster.close()
        part.close()


def figures(found: dict[str, float]) -> list[Figure]:
    """The figures and their goals."""
    chart = "Completed workflows a second, beside a bare loop that lists and deletes them"
    every = {
        "caboose": Figure("caboose", found.get("caboose", 0), "workflows/s", chart=chart),
        "bare": Figure("bare loop", found.get("bare", 0), "workflows/s", chart=chart),
        "ratio": Figure("beside the bare loop", found.get("ratio", 0), "x", at_least=0.5),
        "memory_mib": Figure("memory", found.get("memory_mib", 0), "MiB", at_most=400),
    }
    return [every[name] for name in found]


def main() -> None:
    """Measure, and print one line of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workflows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--memory", type=int, default=0, help="instead: fill the cluster with this many workflows that run"
    )
    options = parser.parse_args()
    with server() as on, tempfile.TemporaryDirectory() as folder:
        url = fresh(on)
        upgrade(url)
        found = asyncio.run(measure(options, url, Path(folder)))
    print(json.dumps({key: round(value, 2) for key, value in found.items()}))
    publish("P7 completion" + (", memory" if options.memory else ""), figures(found))


if __name__ == "__main__":
    main()
