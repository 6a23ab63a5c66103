"""Runs sql/0010_reuse."""

from switchyard.ledger.migrate import run_sql

revision = "0010"
down_revision: str | None = "0009"


def upgrade() -> None:
    run_sql("0010_reuse.up.sql")


def downgrade() -> None:
    run_sql("0010_reuse.down.sql")
