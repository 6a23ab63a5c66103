"""Runs sql/0008_schedules."""

from switchyard.ledger.migrate import run_sql

revision = "0008"
down_revision: str | None = "0004"


def upgrade() -> None:
    run_sql("0008_schedules.up.sql")


def downgrade() -> None:
    run_sql("0008_schedules.down.sql")
