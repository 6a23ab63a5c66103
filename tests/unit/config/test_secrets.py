"""A secret is a reference everywhere but at `resolve`; one written out is refused and not repeated."""

import json
import pickle
from pathlib import Path

import pytest

from switchyard.config import SecretRef
from switchyard.config.secrets import parse_secret, references, unresolved
from switchyard.errors import ConfigError
from tests.unit.config.reading import problems, read

LITERAL = "hunter2-in-the-file"

PLACES = [
    "secrets: {{a: {0}}}",
    "secrets: {{a: [{0}]}}",
    "secrets: {{a: {{{0}: 1}}}}",
    "secrets: {{a: 'env:{0} '}}",
    "secrets: {{a: 'file:{0}'}}",
    "database: {{url: 'postgresql://u:{0}@h/d'}}",
    "database: {{url: 'host=h password={0}'}}",
    "database: {{url: 'postgresql://h/d?password={0}'}}",
    "database: {{url: '{0}'}}",
    "actions: {{a: {{type: http, request: {{url: 'https://u:{0}@h/'}}}}}}",
    "actions: {{a: {{type: http, request: {{url: 'https://h', headers: {{Authorization: 'Bearer {0}'}}}}}}}}",
    "actions: {{a: {{type: http, request: {{url: 'https://h/', headers: {{cookie: '{0}'}}}}}}}}",
    "actions: {{a: {{type: http, request: {{url: 'https://h/', sign: {{secrets: [{0}]}}}}}}}}",
    "actions: {{a: {{type: http, auth: {{bearer: {0}}}, request: {{url: 'https://h/'}}}}}}",
    "actions: {{a: {{type: stac, url: 'https://u:{0}@h/', collection: c}}}}",
    "actions: {{a: {{type: sqs, status_queue: 'https://u:{0}@h/q'}}}}",
    "actions: {{a: {{type: http, tls: {{certificate: {0}, key: {0}}}, request: {{url: 'https://h/'}}}}}}",
    "store: s3://{0}:x@bucket/prefix",
    "secrets: {{a: *{0}}}",
    "secrets: {{a: !{0} x}}",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_written_secret_is_refused_and_not_repeated(place: str) -> None:
    found = problems(place.format(LITERAL))
    assert found
    assert not any(problem.warning for problem in found)
    said = "".join(f"{problem}{problem!r}{json.dumps(problem.as_json())}" for problem in found)
    assert LITERAL not in said


def test_a_value_in_the_environment_is_not_repeated() -> None:
    found = problems("", {"SWITCHYARD_ACTIONS": '{"a": ' + LITERAL, "SWITCHYARD_CONDUCTOR__BATCH": LITERAL})
    assert len(found) == 2
    assert LITERAL not in str([str(problem) for problem in found])


def test_the_value_is_nowhere_in_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(LITERAL)
    config = read(
        f"database: {{url: env:URL}}\nsecrets: {{a: env:A, b: 'file:{file}'}}",
        {"A": LITERAL, "URL": f"postgresql://u:{LITERAL}@h/d"},
    )
    assert config.secrets["b"].resolve() == LITERAL
    shown = f"{config!r}{config}{config.model_dump()}{config.model_dump_json()}{config.fingerprint()}"
    assert LITERAL not in shown
    assert LITERAL.encode() not in pickle.dumps(config.secrets)
    assert "env:A" in config.model_dump_json()


def test_resolving(tmp_path: Path) -> None:
    file = tmp_path / "s"
    file.write_text("from a file\n")
    assert parse_secret("env:A").resolve({"A": "value"}) == "value"
    assert parse_secret(f"file:{file}").resolve({}) == "from a file"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "empty or not set"), (b"\xff" * 8, "not UTF-8"), (b"x" * 70_000, "larger than 64 KiB")],
)
def test_files_that_hold_no_secret(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "s"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as caught:
        SecretRef("file", str(file)).resolve()
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("reference", ["env:NOT_THERE", "file:/no/such/file", "file:/etc"])
def test_a_secret_that_is_not_there_is_named(reference: str) -> None:
    with pytest.raises(ConfigError, match=reference):
        parse_secret(reference).resolve({})


def test_every_reference_is_found_wherever_it_is() -> None:
    config = read("""
        database: {url: env:A}
        secrets: {s: env:B}
        actions:
          h: {type: http, auth: {bearer: env:C}, request: {url: 'https://h', sign: {secrets: [env:D, env:E]}}}
          l: {type: local, command: x, env: {TOKEN: env:F, PLAIN: text}}
    """)
    assert {reference.name for _, reference in references(config)} == set("ABCDEF")
    missing = list(unresolved(config, dict.fromkeys("ABCDE", "x")))
    assert [problem.dotted for problem in missing] == ["actions.l.env.TOKEN"]
    assert missing[0].warning
