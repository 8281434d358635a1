"""Commands about campaigns."""

import askfew.campaigns  # noqa: F401 (first, because it says so if the extra is missing)
