"""The HTTP API of signalbox from Python, with the verbs that the command line has.

    with connect("https://jobs.example", token="sb_…") as switchyard:
        job = switchyard.submit("nutrient", {"scene": "S2A"}, idempotency_key="order-17")
        switchyard.wait(job).status
        switchyard.results(job)

`calls.py` has what each verb sends and how its answer is read; `sync_client.py` sends it, `async_client.py`
does the same with `await`.
"""

from switchyard.remote.async_client import AsyncClient, connect_async
from switchyard.remote.calls import Job
from switchyard.remote.sync_client import Client, connect

__all__ = ["AsyncClient", "Client", "Job", "connect", "connect_async"]
