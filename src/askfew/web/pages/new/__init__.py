"""A new campaign: the form, what it says, and the forecast before anything starts."""
