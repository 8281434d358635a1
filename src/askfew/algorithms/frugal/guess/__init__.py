"""The guesses: whom to ask what, and how much to bet. No label rests on them."""
