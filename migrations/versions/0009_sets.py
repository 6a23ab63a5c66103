"""Runs sql/0009_sets."""

from switchyard.ledger.migrate import run_sql

revision = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    run_sql("0009_sets.up.sql")


def downgrade() -> None:
    run_sql("0009_sets.down.sql")
