"""Runs sql/0011_verify."""

from switchyard.ledger.migrate import run_sql

revision = "0011"
down_revision: str | None = "0010"


def upgrade() -> None:
    run_sql("0011_verify.up.sql")


def downgrade() -> None:
    run_sql("0011_verify.down.sql")
