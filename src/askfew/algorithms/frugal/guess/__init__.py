"""What guesses: whom to ask what, and what to bet. No label rests on it; it may be anything."""
