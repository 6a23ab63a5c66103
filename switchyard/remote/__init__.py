"""The HTTP API of signalbox for Python, with the verbs of the command line.

    with connect("https://jobs.example", token="sb_…") as switchyard:
        job = switchyard.submit("nutrient", {"scene": "S2A"}, idempotency_key="order-17")
        switchyard.wait(job).status
        switchyard.results(job)

`calls.py` defines the request of each verb and how its response is read; `sync_client.py` sends the requests,
`async_client.py` does the same with `await`.
"""

from switchyard.remote.async_client import AsyncClient, connect_async
from switchyard.remote.calls import Job
from switchyard.remote.sync_client import Client, connect

__all__ = ["AsyncClient", "Client", "Job", "connect", "connect_async"]
