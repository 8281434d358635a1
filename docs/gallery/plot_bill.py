"""
What it costs, and the least it can cost
========================================

How many answers will it take? It depends on how far the groups lie apart, which nobody knows
beforehand. The line is the median of 30 simulated runs. The band goes from the 5 % to the 95 %
quantile. The dotted line is a lower bound: on average, no method gets by with fewer answers.
"""

import matplotlib.pyplot as plt

from askfew.simulation import Instance, RunSummary, simulate_runs
from askfew.theory import labelling_mean, yes_no_divergence

items, gaps = 60, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
summaries, floor = [], []
for gap in gaps:
    instance = Instance(items=items, questions=15, useful=4, gap=gap, noise="yes-no")
    runs = simulate_runs(instance, "frugal", delta=0.05, runs=30, seed=1)
    summaries.append(RunSummary.of(runs))
    divergence = yes_no_divergence([0.5 + gap / 2], [0.5 - gap / 2])
    floor.append(labelling_mean(items, divergence, 0.05).value)

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.fill_between(
    gaps,
    [each.q05_answers for each in summaries],
    [each.q95_answers for each in summaries],
    color="#0072B2",
    alpha=0.15,
    linewidth=0,
)
medians = [each.median_answers for each in summaries]
axes.plot(gaps, medians, "o-", color="#0072B2", label="askfew, median and 5 % to 95 %")
axes.plot(gaps, floor, ":", color="black", label="lower bound (labelling alone)")
axes.set_yscale("log")
axes.set_yticks([200, 500, 1000, 2000, 5000])
axes.yaxis.set_major_formatter("{x:,.0f}")
axes.minorticks_off()
axes.set(xlabel="gap on the useful questions (yes/no, 4 of 15)", ylabel="answers")
axes.set_title("60 items, delta 5 %", loc="left")
axes.grid(color="0.92", which="both")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()
