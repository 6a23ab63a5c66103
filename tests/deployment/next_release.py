"""The migrations of a release that might come next: columns of large tables, every view, a function."""

import re
import shutil
from pathlib import Path

from switchyard.ledger import migrate

# In the order in which a submission locks them: in another, the two would wait for each other.
UP = """alter table switchyard.action add column test_note text;
alter table switchyard.thread add column test_rank integer not null default 0;
"""
DOWN = """alter table switchyard.thread drop column test_rank;
alter table switchyard.action drop column test_note;
"""
STEP = """from switchyard.ledger.migrate import run_sql

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    run_sql("{revision}_test.up.sql")


def downgrade() -> None:
    run_sql("{revision}_test.down.sql")
"""
VIEW = re.compile(r"^(create or replace view switchyard\.\S+) as$", re.MULTILINE)
PAUSED = "p.paused_at is not null as paused"
FUNCTION = """
create or replace function switchyard.test_waiting() returns bigint language sql stable
as 'select sum(q.test_one) from switchyard.queue q';
comment on function switchyard.test_waiting is 'Reads a column that the view of the release before does not have.';
"""


def next_release(into: Path) -> Path:
    """A copy of the migrations with a step more, every view with an option, and a column more that a function uses."""
    copy = into / "migrations"
    shutil.copytree(migrate.folder(), copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = migrate.newest()
    revision = f"{int(before or 0) + 1:04}"
    (copy / "sql" / f"{revision}_test.up.sql").write_text(UP)
    (copy / "sql" / f"{revision}_test.down.sql").write_text(DOWN)
    (copy / "versions" / f"{revision}_test.py").write_text(STEP.format(revision=revision, before=before))
    for file in (copy / "current").glob("*.sql"):
        file.write_text(VIEW.sub(r"\1 with (security_barrier) as", file.read_text()))
    views = copy / "current" / "views.sql"
    text = views.read_text()
    assert PAUSED in text
    views.write_text(text.replace(PAUSED, f"{PAUSED}, 1 as test_one") + FUNCTION)
    return copy
