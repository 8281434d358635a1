"""
Two promises, and items that differ
===================================

The promise "groups" assumes that items of one group are the same. What if they are not? Each point
stands for 25 simulated runs. A run counts as wrong if any certified label is wrong. The promise
"rule" does not assume that items are alike, and needs more answers.
"""

import matplotlib.pyplot as plt

from askfew.simulation import Instance, RunSummary, simulate_runs

spreads = (0.0, 0.1, 0.2, 0.3)
found = {}
for method in ("frugal", "rule"):
    for spread in spreads:
        instance = Instance(
            items=40, questions=12, useful=6, gap=0.7, noise="yes-no", spread=spread
        )
        runs = simulate_runs(instance, method, delta=0.05, runs=25, seed=1)
        found[method, spread] = RunSummary.of(runs)

# %%
# Bars are exact 95 % intervals. The dashed line is delta, the error that is allowed.

figure, (errors, cost) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
looks = {"frugal": ("#D55E00", "groups (frugal)"), "rule": ("#0072B2", "rule")}
for method, (colour, name) in looks.items():
    summaries = [found[method, spread] for spread in spreads]
    rates = [each.error_rate for each in summaries]
    below = [each.error_rate - each.error_interval[0] for each in summaries]
    above = [each.error_interval[1] - each.error_rate for each in summaries]
    shift = -0.004 if method == "frugal" else 0.004
    places = [spread + shift for spread in spreads]
    look = {"fmt": "o-", "color": colour, "label": name, "capsize": 3}
    errors.errorbar(places, rates, (below, above), **look)
    cost.plot(spreads, [each.mean_answers_all for each in summaries], "o-", color=colour)
errors.axhline(0.05, color="0.4", linestyle="--", linewidth=1)
errors.set(ylabel="runs with a wrong certified label", ylim=(-0.03, 1))
cost.set(ylabel="mean answers", ylim=(0, None))
for axes in (errors, cost):
    axes.set_xlabel("spread of items within a group, in gaps")
    axes.spines[["top", "right"]].set_visible(False)
errors.legend(frameon=False)
errors.set_title("How often the certificate is wrong", loc="left")
cost.set_title("What it costs", loc="left")
plt.show()
