"""Run by Alembic: apply migrations on the connection it was given."""

from alembic import context

from askfew.campaigns.db.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
