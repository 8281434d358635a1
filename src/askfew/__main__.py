"""``python -m askfew`` is ``askfew``."""

from askfew.cli import main

if __name__ == "__main__":
    main()
