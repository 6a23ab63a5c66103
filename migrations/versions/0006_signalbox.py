"""Runs sql/0006_signalbox."""

from switchyard.ledger.migrate import run_sql

revision = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    run_sql("0006_signalbox.up.sql")


def downgrade() -> None:
    run_sql("0006_signalbox.down.sql")
