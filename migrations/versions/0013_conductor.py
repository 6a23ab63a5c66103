"""Runs sql/0013_conductor."""

from switchyard.ledger.migrate import run_sql

revision = "0013"
down_revision: str | None = "0012"


def upgrade() -> None:
    run_sql("0013_conductor.up.sql")


def downgrade() -> None:
    run_sql("0013_conductor.down.sql")
