"""Runs sql/0002_partitions."""

from switchyard.ledger.migrate import run_sql

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    run_sql("0002_partitions.up.sql")


def downgrade() -> None:
    run_sql("0002_partitions.down.sql")
