"""Runs sql/0012_roles."""

from switchyard.ledger.migrate import run_sql

revision = "0012"
down_revision: str | None = "0011"


def upgrade() -> None:
    run_sql("0012_roles.up.sql")


def downgrade() -> None:
    run_sql("0012_roles.down.sql")
