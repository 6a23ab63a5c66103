"""Runs sql/0007_signalbox."""

from switchyard.ledger.migrate import run_sql

revision = "0007"
down_revision: str | None = "0008"


def upgrade() -> None:
    run_sql("0007_signalbox.up.sql")


def downgrade() -> None:
    run_sql("0007_signalbox.down.sql")
