"""What a campaign has to say: status, findings, result, report."""
