"""Reading a campaign: status, result, report, the test of independence. Nothing is written."""
