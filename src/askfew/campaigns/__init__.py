"""The durable room: a campaign is one grouping problem in a database, answered over days."""
