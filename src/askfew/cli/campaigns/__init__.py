"""Commands about campaigns: one a file."""

import askfew.campaigns  # noqa: F401 (first of all: it says so where the extra is missing)
