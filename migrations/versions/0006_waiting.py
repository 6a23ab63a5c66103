"""Runs sql/0006_waiting."""

from switchyard.ledger.migrate import run_sql

revision = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    run_sql("0006_waiting.up.sql")


def downgrade() -> None:
    run_sql("0006_waiting.down.sql")
