"""Campaigns for AI agents: what the HTTP API does, as tools of the Model Context Protocol."""
