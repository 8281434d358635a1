"""A simulated crowd: rehearse a campaign end to end before paying for it."""
