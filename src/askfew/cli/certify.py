"""``askfew certify``: apply a rule to new items, without learning a new one."""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.text import Text
from typer import Argument, Option

import askfew
from askfew.algorithms import check_delta
from askfew.answers import PLAIN_KINDS, AnswerKind, Number, Scale
from askfew.campaigns.exchange.exporting import LONG_COLUMNS
from askfew.campaigns.exchange.files import csv_text, write_whole
from askfew.campaigns.folder.table_file import read_table
from askfew.cli import options
from askfew.cli.output import check_writable, note, print_json, report
from askfew.errors import InvalidAnswer, InvalidInput
from askfew.log import Log
from askfew.oracles.table import TableOracle
from askfew.outcome import Outcome
from askfew.records import Batch, Problem, Tally
from askfew.rule import Rule
from askfew.workers.python import USUAL_PLATE, Cell, Function, Item, Question, load_function

__all__ = ["certify"]

_ANSWERS = f"{', '.join(PLAIN_KINDS)}, scale:LOW:HIGH or number:SIGMA"
_PLATE = USUAL_PLATE
"""Questions in a batch, as in ``askfew work python``."""

RuleFile = Annotated[
    Path | None, Argument(help="A rule's file, as Rule.save writes it.", show_default=False)
]
Cut = Annotated[
    str | None,
    Option(metavar="QUESTION=VALUE", help="One question and one cut instead of a file."),
]
Ask = Annotated[
    str | None,
    Option(
        metavar="MODULE:FUNCTION",
        help="Who answers: a function, called as by 'askfew work python'.",
    ),
]
ItemsFile = Annotated[
    str | None,
    Option(help="Of --ask: a CSV file (columns id, text, image), or how many there are."),
]
Recorded = Annotated[
    Path | None,
    Option(help="Answers already given: a CSV file (columns item, question, answer)."),
]
MaxAnswers = Annotated[
    int | None, Option(help="Never ask for more.", show_default="10,000 of a function")
]
CsvFile = Annotated[Path | None, Option(help="Write every item's group there.", show_default=False)]
LogFile = Annotated[
    Path | None,
    Option(help="Keep all answers there; what is in it is not asked again."),
]


def certify(
    rule: RuleFile = None,
    cut: Cut = None,
    ask: Ask = None,
    items: ItemsFile = None,
    recorded: Recorded = None,
    answers: Annotated[str, Option(help=f"{_ANSWERS}.")] = "yes-no",
    delta: options.Delta = 0.05,
    error: options.Error = None,
    per_cell: options.PerCell = None,
    max_answers: MaxAnswers = None,
    seed: options.Seed = 0,
    csv: CsvFile = None,
    log: LogFile = None,
    json: options.AsJson = False,
) -> None:
    """Sort new items by an existing rule, with a certificate about it."""
    check_delta(delta)
    check_writable(csv)
    check_writable(log)
    chosen, kind = _rule(rule, cut), _kind(answers)
    _check_source(ask, recorded, log)
    if recorded is not None:
        given = _recorded(recorded, kind, seed, per_cell)
    else:
        assert ask is not None
        given = _function(load_function(ask), _items(items), chosen, kind)
        if per_cell is not None:
            given["per_cell"] = per_cell
    if error is not None:
        given["error"] = error
    questions = list(given.get("questions", chosen.questions))
    with _log_file(log, given["items"], questions, kind) as answered:
        outcome = askfew.certify(
            rule=chosen, delta=delta, max_answers=max_answers, rng=seed, log=answered, **given
        )
    if csv is not None:
        write_whole(csv, _table(outcome).encode())
        note(f"Wrote {csv}")
    if json:
        print_json({"items": [str(each) for each in outcome.items], **outcome.to_dict()})
    else:
        report.print(Text(str(outcome)))


def _check_source(ask: str | None, recorded: Path | None, log: Path | None) -> None:
    if (ask is None) == (recorded is None):
        raise InvalidInput(
            "answers must come from --ask MODULE:FUNCTION or --recorded FILE",
            "both" if ask else "none",
            "give one of them",
        )
    if recorded is not None and log is not None:
        raise InvalidInput("--log keeps what a function answers", "--recorded", "leave it out")


def _rule(path: Path | None, cut: str | None) -> Rule:
    if (path is None) == (cut is None):
        raise InvalidInput(
            "there must be one rule: a file, or --cut QUESTION=VALUE",
            "none" if cut is None else "both",
            "give one of them",
        )
    if path is not None:
        return Rule.load(path)
    assert cut is not None
    question, equals, value = cut.rpartition("=")
    try:
        if not (question and equals):
            raise ValueError
        return Rule.cut(question, float(value))
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            "--cut must be QUESTION=VALUE", repr(cut), 'write for example "Is it red?=0.5"'
        ) from None


def _kind(text: str) -> AnswerKind:
    name, *numbers = text.split(":")
    try:
        match name, [float(each) for each in numbers]:
            case _, [] if name in PLAIN_KINDS:
                return PLAIN_KINDS[name]
            case "scale", [low, high]:
                return Scale(low, high)
            case "number", [sigma]:
                return Number(sigma)
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
    raise InvalidInput(f"--answers must be {_ANSWERS}", repr(text), "write for example scale:1:5")


def _items(text: str | None) -> list[Item]:
    """The items of a CSV file, or this many items without a text."""
    if text is None:
        raise InvalidInput(
            "--ask needs to know the items", "none", "pass --items FILE, or how many there are"
        )
    if text.isdecimal():
        return [Item(str(number), "") for number in range(int(text))]
    path = Path(text)
    found: dict[str, Item] = {}
    for line, fields in read_table(path, ("id",), ("text", "image", "group")):
        name = fields["id"]
        if not name or name in found:
            raise InvalidInput(
                f"{path} line {line}: each item must have an id of its own",
                repr(name),
                "change it",
            )
        image = path.parent / fields["image"] if fields["image"] else None
        found[name] = Item(name, fields["text"], image)
    return list(found.values())


def _function(
    function: Function, items: Sequence[Item], rule: Rule, kind: AnswerKind
) -> dict[str, Any]:
    """The arguments of ``askfew.certify`` for a function that takes items and questions as records.

    The function of a worker gets records, while ``askfew.certify`` knows items by their ids only.
    """
    if function.is_async:
        raise InvalidInput(
            "the function must not be async", function.name, "'askfew work python' awaits those"
        )
    questions = [Question(str(each), str(each)) for each in rule.questions]
    item_of = {each.id: each for each in items}
    question_of = dict(zip(rule.questions, questions, strict=True))
    source: Callable[..., Any] = (
        partial(_answer_batch, function, items, questions, kind)
        if function.batched
        else lambda item, question: function.call(item_of[item], question_of[question])
    )
    return {"source": source, "answers": kind, "items": [each.id for each in items]}


def _answer_batch(
    function: Function,
    items: Sequence[Item],
    questions: Sequence[Question],
    kind: AnswerKind,
    batch: Batch,
) -> Tally:
    """The Tally of a Batch, from a function that takes lists of cells."""
    rows = np.repeat(np.arange(len(batch)), batch.repeats)
    cells = [
        Cell(str(number), items[batch.items[row]], questions[batch.questions[row]])
        for number, row in enumerate(rows)
    ]
    plates = [cells[at : at + _PLATE] for at in range(0, len(cells), _PLATE)]
    replies = [value for plate in plates for value in _answer_plate(function, plate)]
    came = [None if value is None else kind.read(value) for value in replies]
    given = np.array([value is not None for value in came])
    values = np.array([value or 0.0 for value in came])
    counts = np.bincount(rows[given], minlength=len(batch))
    sums = np.zeros(len(batch))
    np.add.at(sums, rows[given], values[given])
    return Tally(counts, sums)


def _answer_plate(function: Function, plate: list[Cell]) -> list[object]:
    values = list(function.call(plate))
    if len(values) != len(plate):
        raise InvalidAnswer(
            f"{function.name} must return one answer for each question of a batch ({len(plate)})",
            len(values),
            "return None where there is none",
        )
    return values


def _recorded(path: Path, kind: AnswerKind, seed: int, per_cell: int | None) -> dict[str, Any]:
    """The arguments of ``askfew.certify`` for the recorded answers of a file."""
    needed = ("item", "question", "answer")
    others = tuple(name for name in LONG_COLUMNS if name not in needed)
    items: list[str] = []
    questions: list[str] = []
    values: list[float] = []
    for line, fields in read_table(path, needed, others):
        items.append(fields["item"])
        questions.append(fields["question"])
        try:
            values.append(kind.read(fields["answer"]))
        except InvalidAnswer as error:
            expected, got, do = error.args
            raise InvalidInput(f"{path} line {line}: {expected}", got, do) from None
    source = TableOracle.of_rows(items, questions, values, kind, np.random.default_rng(seed))
    given: dict[str, Any] = {"source": source}
    given["items"], given["questions"] = (list(dict.fromkeys(each)) for each in (items, questions))
    if per_cell is not None:  # what is not positive is refused by the method, in its own words
        given["per_cell"] = np.minimum(source.per_cell, per_cell) if per_cell > 0 else per_cell
    return given


@contextmanager
def _log_file(
    path: Path | None, items: Sequence[str], questions: Sequence[object], kind: AnswerKind
) -> Iterator[Log]:
    """The log in a file. It is written back also if the run fails: answers may have cost money."""
    log = Log(Problem(len(items), len(questions), kind))
    names = {"items": list(items), "questions": [str(each) for each in questions]}
    if path is not None and path.exists():
        try:
            kept = json_format.loads(path.read_text())
            log = Log.from_dict(kept["log"])
        except (OSError, TypeError, KeyError, ValueError) as error:
            raise InvalidInput(
                f"{path} must hold what --log wrote", str(error)[:100], "name another file"
            ) from error
        if {name: kept.get(name) for name in names} != names:
            raise InvalidInput(
                f"{path} must be of the same items and questions", "others", "name another file"
            )
    try:
        yield log
    finally:
        if path is not None and (log.steps or log.partial is not None):
            write_whole(path, json_format.dumps({**names, "log": log.to_dict()}).encode())


def _table(outcome: Outcome) -> str:
    """A CSV table of the items, each with its group or the reason why it has none."""
    columns, names = outcome.table, outcome.group_names
    groups = [names[label] if label >= 0 else "" for label in columns["group"]]
    guesses = [names[label] for label in columns["guess"]]
    head = ("item", "group", "guess", "confidence", "undecided", "evidence")
    rest = (columns["confidence"], columns["undecided"], columns["evidence"])
    return csv_text(head, zip(columns["item"], groups, guesses, *rest, strict=True))
