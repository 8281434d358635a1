"""``askfew demo``"""


def demo() -> None:
    """The whole story in seconds."""
