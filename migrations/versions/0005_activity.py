"""Runs sql/0005_activity."""

from switchyard.ledger.migrate import run_sql

revision = "0005"
down_revision: str | None = "0007"


def upgrade() -> None:
    run_sql("0005_activity.up.sql")


def downgrade() -> None:
    run_sql("0005_activity.down.sql")
