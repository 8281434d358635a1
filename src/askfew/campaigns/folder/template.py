"""The folder that ``askfew new`` creates: a small campaign that works, to be changed."""

from __future__ import annotations

import os
from pathlib import Path

from askfew.campaigns.setting_values import read_setting
from askfew.errors import InvalidInput

__all__ = ["write_template"]

_SETTINGS = """\
# The settings of a campaign. Whatever you leave out, but for the name, has a default.
[campaign]

# What it is called: unique in its store; letters, digits, spaces and - _ .
name = "{name}"

# How much may be wrong: see 'error' below for what it bounds.
delta = 0.05

# What an answer is: "yes-no", {{ scale = [1, 5] }} or {{ number = {{ sigma = 2.0 }} }}.
answers = "yes-no"

# Never ask for more answers than this.
max_answers = 10000

# How often one worker may answer the same question about the same item. With people, 1 is right:
# asked again, they repeat themselves. 'askfew create' says how many different workers that takes.
# Raise it where a repeated answer is a fresh draw (an instrument, a model that is not always the
# same), or, to 1000 say, if you only want to try this folder alone.
answers_per_worker_and_cell = 1

# What one answer costs, in any currency.
price = 0.02

# Decides every random choice: the same seed and answers lead to the same questions.
seed = 0

# How many seconds at most a question is kept for the worker who took it.
lease_seconds = 600

# How many seconds a step waits when nobody who is admitted may answer what is left of it.
step_timeout = 3600

# How to sort. "rule" is for items as they are: it learns a rule that you can read (which questions,
# which way), and certifies for each item on which side of it the item lies. "frugal" needs fewer
# answers, but its promise holds only if items of one group are the same on every question.
method = "rule"

# How many groups: a number or "auto"; for "rule" also a list of allowed numbers such as [2, 3].
groups = 2

# What delta bounds. "any": the chance that any label at all is wrong. "share", for "rule": the
# expected share of wrong ones among the labels; it decides more items for the same answers.
error = "any"

# The most answers of any item to any question; without it there is no such limit.
# per_cell = 12

# For "frugal": how far items of one group may differ in their mean answer to a question, in the
# answers' units, for its promise to hold. The groups must differ by more.
tolerance = 0.0

# For "frugal": how many answers to ask for after the last label, to see whether items of one group
# really are the same. No label depends on them, but they may show that the promise does not hold.
audit = 0

# For "rule": the most answers about one item after the rule is learnt; without it, enough for most.
# limit = 100

# For "rule": where the cut lies. 0.5 is half-way between the groups; less decides more and claims
# less.
margin = 0.5

# Whether asking the same again gives a "fresh" answer or the "same" one (a model at temperature 0).
repeats = "fresh"

# A rule to be applied as it is, instead of learning one: a file that 'askfew export NAME --format
# rule' wrote, in this folder.
# rule = "rule.json"

# How many people will answer, if you know: no cell gets more answers than they can give, and
# 'askfew create' says whether they can finish. For language models, the number of models (and their
# paraphrases are answers_per_worker_and_cell, above).
# people = 12

# The share of questions that are about anchors (see items.csv), shown among the rest to see how
# well people answer. Their answers never count for a label.
gold = 0.0

# Options of the method itself; none are needed.
options = {{}}

# Shown to workers beside every question.
guidelines = "Answer for a typical adult bird. Skip the question if you do not know."
"""

_ITEMS = """\
id,text,image,group
mallard,"Mallard, a duck of ponds and parks",,
puffin,"Atlantic puffin, nests in burrows on sea cliffs",,
swan,"Mute swan, large and white",,
penguin,"King penguin, lives in colonies on cold coasts",,
robin,"European robin, small with an orange breast",,
owl,"Tawny owl, hunts in woods after dark",,
woodpecker,"Great spotted woodpecker, drums on trunks",,
swallow,"Barn swallow, catches insects in flight",,
"""

_QUESTIONS = """\
id,text,defines
swims,Does this bird swim?,
feet,Does it have webbed feet?,
fish,"Does it eat fish, or plants that grow in water?",
night,Is it awake mostly at night?,
song,Would you call its voice a song?,
"""


def write_template(path: str | Path) -> tuple[Path, ...]:
    """Write campaign.toml, items.csv and questions.csv into a new or empty folder."""
    folder = Path(path)
    contents = {
        folder / "campaign.toml": _SETTINGS.format(name=_name(folder)),
        folder / "items.csv": _ITEMS,
        folder / "questions.csv": _QUESTIONS,
    }
    try:
        if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise FileExistsError
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in contents.items():
            # "x": never overwrite a file that somebody has made in between.
            with file.open("x", encoding="utf-8", newline="\n") as handle:
                handle.write(content)
    except FileExistsError:
        raise InvalidInput(
            f"{folder}: this must be a new or an empty folder",
            "one with files in it" if folder.is_dir() else "a file",
            "choose another name",
        ) from None
    except OSError as error:
        raise InvalidInput(
            f"{folder}: a folder must be writable here", error.strerror, "choose another place"
        ) from error
    return tuple(contents)


def _name(folder: Path) -> str:
    """The folder's own name, if a campaign may have it; otherwise a default."""
    try:
        return str(read_setting("name", os.path.basename(os.path.abspath(folder))))
    except InvalidInput:
        return "my campaign"
