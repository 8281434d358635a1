"""Campaigns for AI agents: the HTTP API's doings as tools of the Model Context Protocol."""
