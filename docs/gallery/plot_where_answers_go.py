"""
Where the answers go
====================

Sixty items and twelve questions, two of which tell the groups apart. The picture shows how often
each (item, question) was asked: a short search here and there, then one good question for all
items.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import askfew

items, questions = 60, 12
rng = np.random.default_rng(3)
kind = rng.permutation(items) < items // 2
chances = np.full((items, questions), 0.5)
chances[:, 4] = np.where(kind, 0.85, 0.15)
chances[:, 9] = np.where(kind, 0.70, 0.30)

log = askfew.Log(askfew.Problem(items, questions))
result = askfew.cluster(askfew.oracles.bernoulli(chances, rng=1), rng=7, log=log)
print(result)

# %%
# The log holds every batch that was asked and what came back.

asked = np.zeros((questions, items))
for step in log:
    np.add.at(asked, (step.batch.questions, step.batch.items), step.tally.counts)
by_group = np.argsort(kind, kind="stable")

figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
shown = np.ma.masked_equal(asked[:, by_group], 0)
image = axes.imshow(shown, aspect="auto", cmap="viridis_r", norm=LogNorm(1, asked.max()))
axes.axvline(items // 2 - 0.5, color="black", linewidth=1)
axes.set(xlabel="60 items, one group on each side of the line", ylabel="question")
axes.set_yticks(range(questions))
axes.set_xticks([])
title = f"{result.answers} answers sort all items; asking every cell ten times takes 7,200"
axes.set_title(title, loc="left")
figure.colorbar(image, pad=0.01, label="answers (white: none)", format="%d")
plt.show()
