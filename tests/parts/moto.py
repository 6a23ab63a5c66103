"""moto's server: Step Functions that run the state language; also SQS and S3 where nothing better can run."""

import json
import sys
import urllib.request

from tests.parts.aws import AwsPart
from tests.parts.http import until_answers
from tests.parts.ports import free_port
from tests.parts.process import Process


def start() -> AwsPart:
    """A server of all services, with state machines executed rather than pretended."""
    port = free_port()
    process = Process("moto", [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)])
    process.start()
    until_answers(process, f"http://127.0.0.1:{port}/moto-api/")
    settings = json.dumps({"stepfunctions": {"execute_state_machine": True}}).encode()
    urllib.request.urlopen(f"http://127.0.0.1:{port}/moto-api/config", data=settings).close()
    return AwsPart(process, port, "SQS", "S3", "SFN")
