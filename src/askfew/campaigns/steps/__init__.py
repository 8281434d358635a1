"""Steps: opening, closing, and the log they form."""
