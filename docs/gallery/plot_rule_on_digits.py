"""
A rule one can read
===================

Handwritten zeros and ones, and 64 questions: "is this pixel dark?" The darker the pixel, the more
often a simulated crowd says yes. No two digits are alike, so this is a case for ``method="rule"``.
The figure shows which pixels the learnt rule asks about, on the mean picture of all digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import askfew

pictures, digit = load_digits(n_class=2, return_X_y=True)
crowd = askfew.oracles.bernoulli(pictures / 16, rng=1)
result = askfew.cluster(crowd, method="rule", error="share", rng=0)
decided = result.labels >= 0
print(result.rule)
print(f"{decided.mean():.0%} of {len(digit)} digits decided, {result.answers} answers")

# %%
# The certificate says that labels are right about the rule. Whether the rule tells a 0 from a 1 is
# not promised. Here it can be measured.

agrees = np.mean(result.labels[decided] == digit[decided])
print(f"{max(agrees, 1 - agrees):.1%} of the decided labels agree with the digits")

# %%
# A blue pixel speaks for group 1 if it is dark, a red one if it is light.

figure, axes = plt.subplots(figsize=(4.2, 4.4), layout="constrained")
axes.imshow(pictures.mean(axis=0).reshape(8, 8), cmap="Greys")
node = result.rule.nodes[0]
for place, weight in zip(node.questions, node.weights, strict=True):
    row, column = divmod(int(result.rule.questions[place]), 8)
    colour = "#0072B2" if weight > 0 else "#D55E00"
    axes.scatter(column, row, s=420 * abs(weight), color=colour, edgecolor="white")
axes.set_xticks([])
axes.set_yticks([])
axes.set_title("The pixels of the rule", loc="left")
plt.show()
