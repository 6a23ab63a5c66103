"""`switchyard show` of a graph on a terminal of 80 columns."""

from pathlib import Path
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb
from rich.cells import cell_len
from rich.text import Text

from tests.acceptance.cli.terminal import on_terminal
from tests.parts.database import Database

pytestmark = pytest.mark.database
CONFIG = "database: {url: env:DATABASE_URL}\nstore: file:///nowhere\nactions: {noop: {type: noop}}\n"


def wide(database: Database) -> UUID:
    """Twelve nodes with long names, and one that waits for all of them."""
    names = [f"north-sea-mosaic-{number:02}" for number in range(12)]
    nodes = {name: {"action_name": "noop"} for name in names}
    graph = {"nodes": {**nodes, "report-of-all": {"action_name": "noop", "after": names}}}
    [found] = database.execute(
        "select action_uuid from switchyard.submit_graph(%s) where name is null", Jsonb(graph)
    )
    return UUID(str(found[0]))


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_graph_fits_a_narrow_terminal(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", database.url)
    monkeypatch.setenv("NO_COLOR", no_color)
    (tmp_path / "switchyard.yaml").write_text(CONFIG)
    code, screen = on_terminal("show", str(wide(database)), cwd=tmp_path, columns=80)
    assert code == 0, screen
    assert ("\x1b[3" in screen) is not bool(no_color)
    plain = Text.from_ansi(screen).plain
    drawn = plain[plain.index("0 of 13 nodes done") :].splitlines()
    assert max(map(cell_len, drawn)) <= 80, plain
    joined = "".join("".join(drawn).split())
    assert all(f"north-sea-mosaic-{number:02}" in joined for number in range(12)), plain
    assert "and2more" in joined
