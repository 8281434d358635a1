"""A campaign folder on disk: campaign.toml, items.csv, questions.csv and pictures."""
