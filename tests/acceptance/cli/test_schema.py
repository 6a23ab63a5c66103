"""`switchyard schema` prints what is committed."""

from pathlib import Path

from tests.acceptance.cli.spawning import switchyard

ROOT = Path(__file__).parents[3]


def test_the_schema(tmp_path: Path) -> None:
    done = switchyard("schema", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == (ROOT / "config" / "schema.json").read_text()
