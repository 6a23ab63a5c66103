"""What the `assessment` command says and how it ends, where nothing has to be spawned to see it."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import shapely

from assessment import cli
from assessment.cli.allowed import Allowed
from switchyard.errors import BadInput
from tests.unit.assessment.conftest import Call
from tests.unit.assessment.files import frame, write
from tests.unit.assessment.world import World, box, write_geojson

pytestmark = pytest.mark.usefixtures("logging_as_before")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return World()._built(tmp_path_factory.mktemp("world")).folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with the object `uploads/sites`."""
    (tmp_path / "store" / "uploads").mkdir(parents=True)
    write(tmp_path / "sites.geojson", frame()).rename(tmp_path / "store" / "uploads" / "sites")
    return tmp_path / "store"


def test_sites_by_url_by_key_and_by_the_configuration(call: Call, bundle: Path, store: Path) -> None:
    config = store.parent / "switchyard.yaml"
    config.write_text(f"store: {store.as_uri()}\nactions: {{n: {{type: noop}}}}\n")
    ways: list[list[object]] = [
        [(store / "uploads" / "sites").as_uri()],
        ["uploads/sites", "--store", store.as_uri()],
        ["uploads/sites", "--config", config],
    ]
    for k, words in enumerate(ways):
        done = call("run", *words, "-b", bundle, "-o", f"out{k}", "-q", "--no-report")
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("1 of 1 sites in scope")
        assert json.loads((store.parent / f"out{k}" / "output.json").read_text())["summary"]["sites"] == 1


@pytest.mark.parametrize(
    ("request_body", "message"),
    [
        (b"{", "input.json is not JSON"),
        (b"[" * 100_000, "input.json is not JSON"),
        (b"[]", "input.json is not a JSON object"),
        (b"{}", "the request has no input"),
        (b'{"input": {"key": "uploads/sites"}}', "the input is the key 'uploads/sites', but no store"),
    ],
)
def test_requests_that_cannot_be_carried_out(
    call: Call, bundle: Path, tmp_path: Path, request_body: bytes, message: str
) -> None:
    (tmp_path / "input.json").write_bytes(request_body)
    done = call("run", "-b", bundle, "-q", SWITCHYARD_INPUT=(tmp_path / "input.json").as_uri())
    assert done.code == 65
    assert message in done.err
    assert len(done.err.splitlines()) == 1


INPUT = {"url": "file:///srv/store/uploads/1"}
ALLOWED = Allowed(["file:///srv/store", "s3://bucket/prefix", "/srv/reference"])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"input": {"url": "file:///etc/passwd"}}, "input: 'file:///etc/passwd' is not in the store"),
        ({"input": {"url": "/etc/passwd"}}, "input: .* is not in the store"),
        ({"input": {"url": "file:///srv/store/../secret"}}, "input: .* is not in the store"),
        ({"input": {"url": "file:///srv/store/%2e%2e/secret"}}, "input: .* is not in the store"),
        ({"input": {"url": "file:///srv/store-of-others/1"}}, "input: .* is not in the store"),
        ({"input": {"url": "file://host/srv/store/1"}}, "input: .* is not in the store"),
        ({"input": {"url": "s3://other/prefix/1"}}, "input: .* is not in the store"),
        ({"input": INPUT, "ponds": {"url": "s3://bucket/elsewhere"}}, "ponds: .* is not in the store"),
        ({"input": INPUT, "bundle": "/srv/other"}, "bundle: .* is not covered by any --allow-url"),
        ({"input": INPUT, "edition": "/etc/passwd.toml:A"}, "edition: .* is not a name"),
    ],
)
def test_m8_a_request_names_nothing_but_what_is_allowed(said: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        ALLOWED.check(said)


def test_m8_what_is_allowed_may_be_named() -> None:
    ALLOWED.check({"input": INPUT, "ponds": {"url": "s3://bucket/prefix/2"}, "bundle": "/srv/reference"})
    ALLOWED.check({"input": {"key": "uploads/1"}, "edition": "C"})


def test_m8_what_a_request_may_not_name_is_not_opened(call: Call, bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("no TOML, but a secret")
    said = {"input": {"key": "a"}, "edition": f"{tmp_path}/secret.toml:A"}
    (tmp_path / "input.json").write_text(json.dumps(said))
    done = call("run", "-b", bundle, "-q", SWITCHYARD_INPUT=(tmp_path / "input.json").as_uri())
    assert done.code == 65
    assert "secret.toml:A' is not a name" in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run"], 78, "no sites: name a file, or set SWITCHYARD_INPUT to the URL of a request"),
        (
            ["work", "--store", "file:///srv"],
            78,
            "no reference bundle: give --bundle or set SWITCHYARD_BUNDLE",
        ),
        (["work", "-b", "here"], 78, "no store: set SWITCHYARD_STORE, or give --store or --config"),
        (["work", "-b", "here", "--config", "none.yaml"], 78, "none.yaml"),
        (["bundle", "build", "here"], 65, "no layer to build a bundle from"),
        (["bundle", "build", "here", "--set", "gcn_ponds"], 2, "'gcn_ponds' is not NAME=PATH"),
        (["bundle", "build", "here", "--set", "ponds=p.gpkg"], 65, "'ponds' is not a layer or table"),
    ],
)
def test_words_that_are_missing(call: Call, words: list[str], code: int, message: str) -> None:
    ended = call(*words)
    assert ended.code == code
    assert message in ended.err


def test_a_build_prints_what_it_made_and_its_warnings(call: Call, tmp_path: Path) -> None:
    write_geojson(
        tmp_path / "lpa.geojson",
        [(box(0, 0, 9, 9), {"NAME": "a"}), (shapely.Point(600_000, 300_000), {"NAME": "b"})],
    )
    built = call("bundle", "build", "home", "--set", "lpa_boundaries=lpa.geojson")
    assert built.code == 0
    version = (tmp_path / "home" / "current").read_text().strip()
    assert built.out.splitlines() == [
        f"built version {version} in home",
        "warning: lpa_boundaries: 1 features have no area",
    ]
    assert built.err.splitlines() == [
        "lpa_boundaries: sorting",
        "lpa_boundaries: looking for overlaps",
        "checking",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_build_on_a_terminal_rewrites_one_line(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_geojson(tmp_path / "lpa.geojson", [(box(0, 0, 9, 9), {"NAME": "a"})])
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert call("bundle", "build", "home", "--set", "lpa_boundaries=lpa.geojson").code == 0
    assert isinstance(sys.stderr, Terminal)
    drawn = sys.stderr.getvalue()
    assert drawn.startswith("\r\033[Klpa_boundaries: 1 features read")
    assert drawn.endswith("\r\033[Kchecking\n")
    assert drawn.count("\n") == 1


def test_too_little_memory_is_reported(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(**_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "app", too_large)
    ended = call("run", "sites.zip")
    assert (ended.code, ended.err) == (1, "assessment: not enough memory for this input\n")
