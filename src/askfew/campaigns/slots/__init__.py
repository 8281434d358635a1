"""A slot is one answer wanted: its states, who is handed it, what comes back."""
