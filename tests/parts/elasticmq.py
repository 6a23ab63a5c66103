"""ElasticMQ: SQS as a Java server, from Maven Central; the jars are pinned by elasticmq/pom.xml."""

import re
import tempfile
from pathlib import Path

from tests.parts import guardian
from tests.parts.aws import AwsPart
from tests.parts.cache import UnavailableError, cached, run, tool
from tests.parts.http import until_answers
from tests.parts.ports import free_port
from tests.parts.process import Process

POM = Path(__file__).parent / "elasticmq" / "pom.xml"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

SETTINGS = """
include classpath("application.conf")
node-address {{ protocol = http, host = "127.0.0.1", port = {port}, context-path = "" }}
rest-sqs {{ enabled = true, bind-hostname = "127.0.0.1", bind-port = {port}, sqs-limits = strict }}
rest-stats {{ enabled = false }}
"""


def jars() -> Path:
    """The folder of the jars; the first time Maven fetches them."""
    tool("java")
    version = re.findall(r"<version>([^<]+)</version>", POM.read_text())[-1]
    return cached(f"elasticmq-{version}", _fetch)


def start() -> AwsPart:
    """A server with no queues."""
    port = free_port()
    folder = guardian.scratch("elasticmq")
    settings = folder / "elasticmq.conf"
    settings.write_text(SETTINGS.format(port=port))
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
    classes = ["-cp", f"{jars()}/*", "org.elasticmq.server.Main"]
    process = Process("elasticmq", [tool("java"), *quick, f"-Dconfig.file={settings}", *classes])
    process.start()
    until_answers(process, f"http://127.0.0.1:{port}/")
    guardian.discard(folder)
    return AwsPart(process, port, "SQS")


def _fetch(into: Path) -> None:
    with tempfile.TemporaryDirectory() as repository:
        options = ["-Dmaven.repo.local=" + repository, f"-DoutputDirectory={into}", "-DincludeScope=runtime"]
        run([tool("mvn"), "-q", "-B", "-C", "-f", POM, COPY, *options], cwd=POM.parent)
    if not any(into.glob("elasticmq-server_*.jar")):
        raise UnavailableError("Maven fetched no elasticmq-server")
