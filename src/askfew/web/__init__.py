"""The HTTP API and the pages over the campaigns of one store."""
