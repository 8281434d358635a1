"""The database. No code outside this room imports SQLAlchemy or the schema.

``queries`` has one module for each table or noun; its functions take and return records.
"""
