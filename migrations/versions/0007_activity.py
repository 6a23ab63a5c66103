"""Runs sql/0007_activity."""

from switchyard.ledger.migrate import run_sql

revision = "0007"
down_revision: str | None = "0006"


def upgrade() -> None:
    run_sql("0007_activity.up.sql")


def downgrade() -> None:
    run_sql("0007_activity.down.sql")
