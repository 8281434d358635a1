"""Who answers a campaign without a browser: an LLM, a Python callable, a simulated crowd."""
