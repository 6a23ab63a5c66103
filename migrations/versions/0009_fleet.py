"""Runs sql/0009_fleet."""

from switchyard.ledger.migrate import run_sql

revision = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    run_sql("0009_fleet.up.sql")


def downgrade() -> None:
    run_sql("0009_fleet.down.sql")
