"""The fingerprint is the same for the same configuration, and differs where conductors must agree."""

from pathlib import Path

from switchyard.config.load import load
from tests.unit.config.reading import read

TEXT = "actions: {a: {type: noop, concurrency: 5}, b: {type: noop}}\nsecrets: {s: env:S}\n"


def test_order_and_spelling_do_not_matter() -> None:
    other = (
        "secrets: {s: env:S}\nactions: {b: {type: noop}, a: {concurrency: 5, type: noop, timeout: 30000ms}}\n"
    )
    assert read(TEXT).fingerprint() == read(other).fingerprint()


def test_what_conductors_must_agree_on_matters() -> None:
    base = read(TEXT).fingerprint()
    assert read(TEXT.replace("5", "6")).fingerprint() != base
    assert read(TEXT.replace("env:S", "env:T")).fingerprint() != base
    assert read(TEXT + "workflows: {w: {action: a}}").fingerprint() != base
    assert read(TEXT + "store: s3://b/p").fingerprint() != base


def test_what_is_one_hosts_own_does_not() -> None:
    environ = {
        "S": "other",
        "SWITCHYARD_CONDUCTOR__HEALTH__PORT": "0",
        "SWITCHYARD_DATABASE__URL": "postgresql://h/d",
    }
    assert read(TEXT, environ).fingerprint() == read(TEXT).fingerprint()


def test_the_content_of_a_schema_file_matters(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(TEXT + "workflows: {w: {action: a, input_schema: in.json}}")
    (tmp_path / "in.json").write_text('{"type": "object"}')
    first = load(file, {}).fingerprint()
    (tmp_path / "in.json").write_text('{"type": "array"}')
    assert load(file, {}).fingerprint() != first


def test_it_is_known() -> None:
    """Conductors of two versions compare it: a change of the models that moves it must be meant."""
    assert len(read(TEXT).fingerprint()) == 64
    assert int(read(TEXT).fingerprint(), 16) > 0
