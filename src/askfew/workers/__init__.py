"""Who answers a campaign without a browser: an LLM, a Python function, a simulated crowd."""
