"""The tables of a store: how they are reached, read at one moment, and migrated."""
