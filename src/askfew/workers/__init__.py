"""Workers that need no browser: language models, Python functions, simulated crowds."""
