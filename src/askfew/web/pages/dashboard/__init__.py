"""The owner's dashboard of one campaign."""
