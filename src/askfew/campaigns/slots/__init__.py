"""The life of a slot: its states, handing it out, taking in what comes back."""
