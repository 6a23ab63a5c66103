"""Runs sql/0003_fleet."""

from switchyard.ledger.migrate import run_sql

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    run_sql("0003_fleet.up.sql")


def downgrade() -> None:
    run_sql("0003_fleet.down.sql")
