"""Runs sql/0004_lanes."""

from switchyard.ledger.migrate import run_sql

revision = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    run_sql("0004_lanes.up.sql")


def downgrade() -> None:
    run_sql("0004_lanes.down.sql")
