"""Sort words into two groups with a function of your own as the one who answers.

    python examples/own_function.py

Here the "crowd" is a coin that is right nine times out of ten. Put a call to your people, your
model or your instrument in its place.
"""

from __future__ import annotations

import random

import askfew

WORDS = ["otter", "oak", "heron", "birch", "badger", "willow", "newt", "elm", "vole", "ash"]
ANIMALS = {"otter", "heron", "badger", "newt", "vole"}
QUESTIONS = ["Is it an animal?", "Does it begin with a vowel?", "Would you like it?"]
coin = random.Random(3)


def ask(word: str, question: str) -> bool:
    """One noisy answer."""
    if question == "Is it an animal?":
        truth = word in ANIMALS
        return truth if coin.random() < 0.9 else not truth
    return coin.random() < 0.5


result = askfew.cluster(ask, items=WORDS, questions=QUESTIONS, delta=0.05, rng=7)
print(result)
for group in result.groups:
    print(group)
