"""Runs sql/0001_ledger."""

from switchyard.ledger.migrate import run_sql

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    run_sql("0001_ledger.up.sql")


def downgrade() -> None:
    run_sql("0001_ledger.down.sql")
