"""Commands about campaigns: one a file."""
