"""Alembic's entry: runs the plain SQL files over the connection that `switchyard.ledger.migrate` opened."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="migration",
    version_table_schema="public",
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
