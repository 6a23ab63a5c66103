"""The real parts that the tests run against; tests/parts has one file per part."""

import logging
import os
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from structlog.contextvars import clear_contextvars

from switchyard.process.redact import forget_secrets
from tests.parts import cache, guardian, leaks, logs, prepare
from tests.parts import elasticmq as sqs_part
from tests.parts import moto as moto_part
from tests.parts.argo import Argo, install_definitions
from tests.parts.aws import AwsPart
from tests.parts.container import ContainerPostgres
from tests.parts.database import Database, Template
from tests.parts.golang import VERSITYGW
from tests.parts.kubernetes import Cluster
from tests.parts.need import obtain, required
from tests.parts.node import Node
from tests.parts.pgbouncer import PgBouncer
from tests.parts.postgres import COMMON, UNSAFE, Existing, Postgres, Server, binaries
from tests.parts.stac import StacApi
from tests.parts.versitygw import VersityGateway

# What a program prints is held back where this is not set, as it is not for most users.
os.environ.pop("PYTHONUNBUFFERED", None)

# How long an example takes depends more on the machine than on the code.
for profile, examples in (("quick", 25), ("thorough", 300)):  # chosen with --hypothesis-profile
    settings.register_profile(
        profile, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgres",
        default="embedded",
        help="the server to test on: embedded, a version that Debian has (15), container, or a URL",
    )
    parser.addoption("--api-examples", default="3", help="how many cases schemathesis makes up per operation")
    parser.addoption(
        "--api-cases", type=int, default=2000, help="how many cases there must be over all operations"
    )


def pytest_sessionstart() -> None:
    cache.build_missing = required()
    logs.begin_session()


def pytest_sessionfinish() -> None:
    guardian.close()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where every part is required, build now what the chosen tests need: no test's time limit includes a build."""
    if required() and not session.config.option.collectonly:
        prepare.prepare({name for item in session.items for name in getattr(item, "fixturenames", ())})


def pytest_runtest_setup() -> None:
    logs.begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    leaks.check(item, report)
    if report.failed:
        report.sections += [(f"Log of {name}", text) for name, text in logs.of_this_test()]
    return report


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """A secret of one test is an ordinary word in the next, and what its log lines were bound to is nothing to it."""
    yield
    forget_secrets()
    clear_contextvars()


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """Commands set up logging for their whole process: put it back as it was."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Iterator[Postgres]:
    """The session's shared server; `.url(dbname)`. Do not stop it: take `own_postgres` for that."""
    with closing(_shared(pytestconfig.getoption("--postgres"))) as server:
        yield server


@pytest.fixture(scope="session")
def template(postgres: Postgres) -> Iterator[Template]:
    """The migrated template of this session's databases."""
    template = Template(postgres)
    yield template
    template.drop()


@pytest.fixture
def database(template: Template, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A fresh migrated database; at the end of the test `switchyard.verify()` must find nothing.

    A test that breaks the ledger on purpose says so with `@pytest.mark.breaks_ledger`.
    """
    with template.clone() as database:
        yield database
        if not request.node.get_closest_marker("breaks_ledger"):
            assert database.execute("select * from switchyard.verify()") == []


@pytest.fixture
def own_postgres(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A durable server of the test's own, to stop, restart or crash; its databases are not migrated."""
    kind = pytestconfig.getoption("--postgres")
    with closing(Server(binaries(kind if kind.isdigit() else "embedded"), {})) as server:
        server.start()
        yield server


@pytest.fixture
def standby(own_postgres: Server) -> Iterator[Server]:
    """A streaming replica of `own_postgres`, hot; `.promote()` makes it a primary."""
    with closing(Server(own_postgres.binaries, {}, primary=own_postgres)) as server:
        server.start()
        yield server


@pytest.fixture
def pgbouncer(postgres: Postgres) -> Iterator[PgBouncer]:
    """A transaction-pooling proxy before the shared server: `.url(database.name)` leads through it."""
    with closing(obtain("PgBouncer", partial(PgBouncer, postgres))) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def moto() -> Iterator[AwsPart]:
    """AWS as moto has it; here for Step Functions, which it runs for real."""
    with closing(moto_part.start()) as part:
        yield part


@pytest.fixture(scope="session")
def elasticmq(request: pytest.FixtureRequest) -> Iterator[AwsPart]:
    """SQS: `.queue()` makes one. moto's where SWITCHYARD_TEST_SQS=moto, or where there is no Java."""
    if prepare.moto_instead("SWITCHYARD_TEST_SQS", sqs_part.jars):
        yield request.getfixturevalue("moto")
        return
    with closing(obtain("ElasticMQ", sqs_part.start)) as part:
        yield part


@pytest.fixture(scope="session")
def s3(request: pytest.FixtureRequest) -> Iterator[AwsPart]:
    """S3: `.bucket()` makes one. moto's where SWITCHYARD_TEST_S3=moto, or where there is no Go."""
    if prepare.moto_instead("SWITCHYARD_TEST_S3", VERSITYGW.binary):
        yield request.getfixturevalue("moto")
        return
    with closing(obtain("versitygw", VersityGateway)) as part:
        yield part


@pytest.fixture(scope="session")
def stac() -> Iterator[StacApi]:
    """A STAC API: `.collection()` makes one."""
    with closing(obtain("A STAC API", StacApi)) as part:
        yield part


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Cluster]:
    """A Kubernetes API server with Argo's resource definitions, and nobody who acts on them."""
    with closing(obtain("Kubernetes", Cluster)) as cluster:
        install_definitions(cluster)
        yield cluster


@pytest.fixture
def namespace(kubernetes: Cluster) -> str:
    """A namespace of the test's own."""
    return kubernetes.namespace()


@pytest.fixture(scope="session")
def argo(kubernetes: Cluster) -> Iterator[Argo]:
    """The Argo controller, for the workflows of every namespace; pods run only with `node`."""
    controller = obtain("Argo", partial(Argo, kubernetes))
    yield controller
    controller.stop()


@pytest.fixture
def node(argo: Argo) -> Iterator[Node]:
    """Runs the pods of workflows as processes; put what they need into `.environ`."""
    node = Node(argo.cluster)
    node.start()
    yield node
    node.stop()


def _shared(kind: str) -> Postgres:
    if "://" in kind:
        return Existing(kind)
    if kind == "container":
        return obtain(
            "A container", partial(ContainerPostgres, {**COMMON, **UNSAFE, "listen_addresses": "*"})
        )
    server = Server(binaries(kind), UNSAFE)
    server.start()
    return server
