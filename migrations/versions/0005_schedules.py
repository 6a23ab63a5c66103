"""Runs sql/0005_schedules."""

from switchyard.ledger.migrate import run_sql

revision = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    run_sql("0005_schedules.up.sql")


def downgrade() -> None:
    run_sql("0005_schedules.down.sql")
