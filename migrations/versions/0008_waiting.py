"""Runs sql/0008_waiting."""

from switchyard.ledger.migrate import run_sql

revision = "0008"
down_revision: str | None = "0007"


def upgrade() -> None:
    run_sql("0008_waiting.up.sql")


def downgrade() -> None:
    run_sql("0008_waiting.down.sql")
