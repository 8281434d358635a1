"""Files that were made to do harm: mutations of a good one. Each is refused in one sentence and
leaves nothing behind, or is a campaign that could have come about, and everything can be read.
"""

import base64
import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from askfew.campaigns.db.schema import metadata
from askfew.campaigns.doctor.examine import examine_store
from askfew.campaigns.exchange.exporting import label_studio_tasks, long_rows
from askfew.campaigns.exchange.moving import export_campaign, import_campaign
from askfew.campaigns.forecast import Sizes, crowd_forecast
from askfew.campaigns.reading.report import report_html
from askfew.campaigns.reading.results import result_of
from askfew.campaigns.reading.status import status_of
from askfew.campaigns.records import Item
from askfew.campaigns.store import Store
from askfew.errors import InvalidInput
from small_campaigns import ITEMS, QUESTIONS, answer, small_settings

pytestmark = pytest.mark.on_sqlite

GIF = b"GIF89a and so on"
LARGE = GIF + bytes(6_000_000)
TABLES = ("items", "questions", "workers", "steps", "slots", "answers", "refusals")
Parts = dict[str, bytes]
Change = Callable[[Parts], Parts | bytes]


class Not(str):
    """JSON as it is written, though it may be none."""


DEEP = Not("[" * 100_000)
VALUES: dict[str, Any] = {
    "none": None,
    "empty": "",
    "a text": "x",
    "a long text": "x" * 20_000,
    "NUL": "a\0b",
    "half a character": "\ud800",
    "a line break": "a\nb",
    "true": True,
    "negative": -1,
    "seven": 7,
    "too large for a column": 2**31,
    "too large for a register": 2**64,
    "endless digits": Not("9" * 5000),
    "a huge number": 1e308,
    "infinite": Not("1e999"),
    "NaN": Not("NaN"),
    "a list": [1],
    "a table": {"a": 1},
    "bytes": {"base64": base64.b64encode(b"12345").decode()},
    "bytes that are none": {"base64": "!"},
    "large bytes": {"base64": base64.b64encode(b"\x7f" * 80).decode()},
    "too deep": DEEP,
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Parts]:
    """The parts of two files: a campaign half way, with all that can be in one, and one ended."""
    folder = tmp_path_factory.mktemp("good")
    store = Store(f"sqlite:///{folder}/store.db")
    things = [Item(ITEMS[0].id, "with a picture", GIF), *ITEMS[1:]]
    parts = {}
    for name, most in (("half way", 33), ("ended", 10**6)):
        settings = small_settings(name)
        forecast = crowd_forecast(settings, Sizes.of(things, QUESTIONS))
        campaign = store.create(settings, things, QUESTIONS, forecast=forecast)
        campaign.tell(campaign.ask("ann")[0].id, 1)  # the first of all rows counts
        campaign.skip(campaign.ask("eve")[0].id)
        (asked,) = campaign.ask("bob")
        campaign.tell(asked.id, 1)
        campaign.tell(campaign.retract(asked.id, "bob").lease or "", 0)
        answer(campaign, most)
        export_campaign(campaign, folder / "file.askfew")
        with zipfile.ZipFile(folder / "file.askfew") as file:
            parts[name] = {each: file.read(each) for each in file.namelist()}
    store.close()
    return parts


def sealed(parts: Parts) -> Parts:
    """With a manifest that fits: whoever means harm can make one."""
    digests = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in parts.items()
        if name != "manifest.json"
    }
    manifest = {**json.loads(parts["manifest.json"]), "digests": digests}
    return {**parts, "manifest.json": json.dumps(manifest).encode()}


def packed(parts: Parts) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return whole.getvalue()


def written(value: Any) -> str:
    """JSON, with what is none put in as it is."""
    marked: list[str] = []

    def mark(each: Any) -> Any:
        if isinstance(each, Not):
            marked.append(str(each))
            return f"@@{len(marked) - 1}@@"
        return {key: mark(own) for key, own in each.items()} if isinstance(each, dict) else each

    text = json.dumps(mark(value))
    for number, raw in enumerate(marked):
        text = text.replace(f'"@@{number}@@"', raw)
    return text


def lines(parts: Parts, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in parts[f"{table}.jsonl"].splitlines()]


def with_lines(parts: Parts, table: str, rows: list[dict[str, Any]]) -> Parts:
    text = "".join(written(row) + "\n" for row in rows)
    return sealed({**parts, f"{table}.jsonl": text.encode()})


def with_about(parts: Parts, field: str, value: Any) -> Parts:
    about = {**json.loads(parts["campaign.json"]), field: value}
    return sealed({**parts, "campaign.json": written(about).encode()})


def mutations(parts: Parts, seed: int, count: int) -> Iterator[tuple[str, Parts]]:
    """Any field of any row or of the campaign set to any of VALUES, or a row lost or doubled."""
    rng = random.Random(seed)
    for _ in range(count):
        table = rng.choice([*TABLES, "campaign"])
        value = rng.choice(list(VALUES))
        if table == "campaign":
            field = rng.choice(list(json.loads(parts["campaign.json"])))
            yield f"campaign {field}: {value}", with_about(parts, field, VALUES[value])
            continue
        rows = lines(parts, table)
        row = rng.randrange(len(rows))
        if rng.random() < 0.1:
            change = rng.choice(["lost", "doubled"])
            changed = rows[:row] + rows[row + (change == "lost") :] + rows[row : row + 1]
            if change == "lost":
                changed.pop()
            yield f"{table} row {row} {change}", with_lines(parts, table, changed)
            continue
        field = rng.choice(list(rows[row]))
        rows[row] = {**rows[row], field: VALUES[value]}
        yield f"{table} row {row} {field}: {value}", with_lines(parts, table, rows)


def sizes(store: Store) -> dict[str, int]:
    with store.database.read() as connection:
        return {
            name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in metadata.tables.items()
        }


def refusal(store: Store, content: bytes, folder: Path) -> str | None:
    """The sentence with which it is refused, and nothing stored; None if it is taken."""
    before = sizes(store)
    (folder / "hostile.askfew").write_bytes(content)
    try:
        import_campaign(store, folder / "hostile.askfew", "hostile")
        return None
    except InvalidInput as error:
        said = str(error)
    assert sizes(store) == before
    assert "\n" not in said
    assert len(said) < 1000
    return said


def use(store: Store, folder: Path) -> None:
    """A campaign that was taken is sound, and all that reads campaigns can read it."""
    found = examine_store(store.database)
    assert found.sound, found
    campaign = store.campaign("hostile")
    json.dumps(status_of(campaign).to_dict(), allow_nan=False)
    json.dumps(result_of(campaign).to_dict(), allow_nan=False)
    report_html(campaign)
    long_rows(campaign)
    label_studio_tasks(campaign)
    export_campaign(campaign, folder / "again.askfew")
    for asked in campaign.ask("zoe", 3):
        assert campaign.tell(asked.id, 1).ok


@pytest.mark.parametrize(("name", "seed"), [("half way", 0), ("ended", 1)])
def test_mutated_fields(good: dict[str, Parts], tmp_path: Path, name: str, seed: int) -> None:
    refused, taken = 0, []
    for number, (change, parts) in enumerate(mutations(good[name], seed, 40)):
        folder = tmp_path / str(number)
        folder.mkdir()
        store = Store(f"sqlite:///{folder}/store.db")
        try:
            if refusal(store, packed(parts), folder) is not None:
                refused += 1
            else:
                taken.append(change)
                use(store, folder)
        except Exception as error:
            raise AssertionError(f"{change}: {type(error).__name__} {error}") from error
        finally:
            store.close()
    assert refused + len(taken) == 40
    assert refused > 25, taken


def changed_row(table: str, **changes: Any) -> Change:
    def change(parts: Parts) -> Parts:
        first, *others = lines(parts, table)
        return with_lines(parts, table, [{**first, **changes}, *others])

    return change


def changed_document(field: str, change: Callable[[Any], Any]) -> Change:
    """A document inside a field of campaign.json, changed."""

    def changed(parts: Parts) -> Parts:
        inner = json.loads(json.loads(parts["campaign.json"])[field])
        return with_about(parts, field, json.dumps(change(inner)))

    return changed


def setting(name: str, value: Any) -> Change:
    return changed_document("settings", lambda own: {**own, name: value})


def outcome(name: str, value: Any) -> Change:
    return changed_document("outcome", lambda own: {**own, name: value})


def array(*numbers: float, dtype: str = "<i8") -> dict[str, str]:
    return content(np.array(numbers, dtype=dtype).tobytes())


def content(written: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(written).decode()}


def snapshot(head: str, arrays: bytes = b"") -> dict[str, str]:
    return content(zlib.compress(head.encode() + b"\n" + arrays))


BAD: dict[str, Change] = {
    # The container.
    "nothing": lambda parts: b"",
    "no zip": lambda parts: b"PK\3\4 is how one begins",
    "half of it": lambda parts: packed(parts)[: len(packed(parts)) // 2],
    "its end alone": lambda parts: packed(parts)[-200:],
    "no manifest": lambda parts: {k: v for k, v in parts.items() if k != "manifest.json"},
    "an empty manifest": lambda parts: {**parts, "manifest.json": b""},
    "a manifest that is a list": lambda parts: {**parts, "manifest.json": b"[]"},
    "a manifest too deep": lambda parts: {**parts, "manifest.json": DEEP.encode()},
    "a manifest without digests": lambda parts: {**parts, "manifest.json": b'{"format": 2}'},
    "digests that are a list": lambda parts: {
        **parts,
        "manifest.json": b'{"format": 2, "digests": ["items.jsonl"]}',
    },
    "digests that are none": lambda parts: {
        **parts,
        "manifest.json": json.dumps(
            {"format": 2, "digests": {k: 7 for k in parts if k != "manifest.json"}}
        ).encode(),
    },
    "another format": lambda parts: {**parts, "manifest.json": b'{"format": 1, "digests": {}}'},
    "a format that is a list": lambda parts: {
        **parts,
        "manifest.json": b'{"format": [2], "digests": {}}',
    },
    "a changed part": lambda parts: {**parts, "items.jsonl": parts["items.jsonl"][:-2] + b"\n"},
    "a missing table": lambda parts: sealed({k: v for k, v in parts.items() if k[:5] != "slots"}),
    "a missing campaign": lambda parts: sealed(
        {k: v for k, v in parts.items() if k != "campaign.json"}
    ),
    "a part nobody listed": lambda parts: {**parts, "../../etc/passwd": b"root"},
    "no lines at all": lambda parts: sealed({**parts, "slots.jsonl": b""}),
    "lines that are lists": lambda parts: sealed({**parts, "items.jsonl": b"[]\n[]\n"}),
    "lines that are no JSON": lambda parts: sealed({**parts, "items.jsonl": b"{\n"}),
    "lines that are no text": lambda parts: sealed({**parts, "items.jsonl": b"\xff\xfe\n"}),
    "a part that is encrypted": lambda parts: encrypted(packed(parts)),
    "an unknown compression": lambda parts: packed(parts).replace(b"\x08\x00", b"\x63\x00"),
    "a picture that is none": lambda parts: sealed(
        {**parts, f"images/{hashlib.sha256(b'<svg>').hexdigest()}": b"<svg>"}
    ),
    "a picture of another name": lambda parts: sealed({**parts, f"images/{'0' * 64}": GIF}),
    "a picture too large": lambda parts: sealed(
        {**parts, f"images/{hashlib.sha256(LARGE).hexdigest()}": LARGE}
    ),
    "a picture that is not there": changed_row("items", image="0" * 64),
    # The campaign itself.
    "settings that are a list": lambda parts: with_about(parts, "settings", "[]"),
    "settings too deep": lambda parts: with_about(parts, "settings", str(DEEP)),
    "settings without a name": changed_document(
        "settings", lambda own: {k: v for k, v in own.items() if k == "delta"}
    ),
    "an unknown setting": setting("colour", "red"),
    "an impossible delta": setting("delta", 2),
    "an unknown method": setting("method", "guess"),
    "another delta": setting("delta", 0.2),
    "another seed": setting("seed", 99),
    "other answers": setting("answers", {"scale": [2, 5]}),
    "a price below nothing": setting("price", -1),
    "fewer answers a worker": setting("answers_per_worker_and_cell", 1),
    "another state": lambda parts: with_about(parts, "state", "asleep"),
    "ended before its end": lambda parts: with_about(parts, "state", "ended"),
    "a recipe that is a list": lambda parts: with_about(parts, "recipe", "[]"),
    "a recipe too deep": lambda parts: with_about(parts, "recipe", str(DEEP)),
    "another recipe": changed_document("recipe", lambda own: {**own, "method": "paper"}),
    "a recipe with more": changed_document("recipe", lambda own: {**own, "also": 1}),
    "created never": lambda parts: with_about(parts, "created", 1e300),
    "plans of its end too early": lambda parts: with_about(parts, "closing", "[]"),
    "plans of its end that are no text": lambda parts: with_about(parts, "closing", [1]),
    "a result too early": lambda parts: with_about(parts, "outcome", "{}"),
    "a forecast that is a list": lambda parts: with_about(parts, "forecast", "[]"),
    "a forecast of texts": lambda parts: with_about(
        parts,
        "forecast",
        json.dumps(
            {
                **json.loads(json.loads(parts["campaign.json"])["forecast"]),
                "typical_workers": "<b>",
            }
        ),
    ),
    # Rows.
    "an item without an id": changed_row("items", id=""),
    "an item with a long id": changed_row("items", id="x" * 201),
    "an item on two lines": changed_row("items", id="a\nb"),
    "an item with an endless text": changed_row("items", text="x" * 10_001),
    "items that do not begin at 0": changed_row("items", number=99),
    "a group on two lines": changed_row("items", group="a\nb"),
    "an anchor of a method without any": changed_row("items", group="birds"),
    "an item twice": changed_row("items", id="item1"),
    "a question without a text": changed_row("questions", text=""),
    "a question more": lambda parts: with_lines(
        parts,
        "questions",
        [*lines(parts, "questions"), {"number": 3, "id": "q3", "text": "?", "defines": False}],
    ),
    "a worker without a name": changed_row("workers", name=""),
    "a worker with a bell": changed_row("workers", name="ann\a"),
    "a worker twice": lambda parts: with_lines(parts, "workers", lines(parts, "workers") * 2),
    "a worker from before time": changed_row("workers", joined=-1.0),
    "a field more": changed_row("workers", token="x"),
    "a step that asks something else": changed_row("steps", questions=array(*[0] * 12)),
    "a step of endless repeats": changed_row("steps", repeats=array(*[2**60] * 12)),
    "a step of negative repeats": changed_row("steps", repeats=array(*[-1] * 12)),
    "a step of unknown items": changed_row("steps", items=array(*[77] * 12)),
    "a step of half arrays": changed_row("steps", items={"base64": "AAAA"}),
    "a step with other sums": changed_row("steps", sums=array(*[1] * 12, dtype="<f8")),
    "a step with sums that are none": changed_row(
        "steps", sums=array(*[float("nan")] * 12, dtype="<f8")
    ),
    "a step with other squares": changed_row("steps", squares=array(*[9] * 12, dtype="<f8")),
    "a step with too few counts": changed_row("steps", counts=array(1)),
    "a step without a Tally": changed_row("steps", counts=None),
    "a step with plans that are none": changed_row(
        "steps", plans={"base64": base64.b64encode(b"[7]").decode()}
    ),
    "a step with another seal": changed_row("steps", seal="0" * 64),
    "a step that was never closed": changed_row("steps", closed=None),
    "a step closed before it was opened": changed_row("steps", closed=1.0),
    "a snapshot that is a list": changed_row("steps", known=content(b"[]")),
    "a snapshot without labels": changed_row("steps", known=snapshot("{}")),
    "a snapshot of texts": changed_row(
        "steps",
        known=snapshot(
            '{"items": 0, "evidence": false, "threshold": "<script>", "question": 0, "expected": 1}'
        ),
    ),
    "a snapshot with too few labels": changed_row(
        "steps",
        known=snapshot(
            '{"items": 7, "evidence": true, "threshold": 1, "question": 0, "expected": 1}',
            bytes(9),
        ),
    ),
    "a slot of another cell": changed_row("slots", item=5, question=2),
    "a slot of an unknown item": changed_row("slots", item=10**6),
    "a slot of another row": changed_row("slots", row=7),
    "a slot in no state": changed_row("slots", state=9),
    "a slot that waits in a closed step": changed_row("slots", state=0),
    "a slot refused too often": changed_row("slots", failures=3),
    "a slot with another value": changed_row("slots", value=0.5),
    "a slot of somebody else": changed_row("slots", worker="eve"),
    "a slot with a strange lease": changed_row("slots", lease="0-0-<script>"),
    "a slot twice": lambda parts: with_lines(
        parts, "slots", [*lines(parts, "slots"), lines(parts, "slots")[0]]
    ),
    "an impossible answer": changed_row("answers", value=7.0),
    "an answer of somebody else": changed_row("answers", worker="eve"),
    "an answer about another cell": changed_row("answers", item=5, question=2),
    "an answer that earns money": changed_row("answers", cost=-1.0),
    "an answer in no time": changed_row("answers", seconds=-1.0),
    "an answer of the far future": changed_row("answers", time=1e12),
    "an answer with an endless text": changed_row("answers", raw="x" * 10_000),
    "an answer with a strange id": changed_row("answers", id="0-0-a b"),
    "an answer taken back": changed_row("answers", retracted=True),
    "an answer to no slot": changed_row("answers", slot=999),
    "an answer twice": lambda parts: with_lines(
        parts, "answers", [*lines(parts, "answers"), lines(parts, "answers")[0]]
    ),
    "a refusal of no slot": changed_row("refusals", step=99),
    "a refusal by nobody": changed_row("refusals", worker=""),
    "an endless refusal": changed_row("refusals", reason="x" * 10_000),
}
BAD_ENDS: dict[str, Change] = {
    "half a plan": lambda parts: with_about(parts, "closing", "[{"),
    "no result": lambda parts: with_about(parts, "outcome", None),
    "an empty result": lambda parts: with_about(parts, "outcome", "{}"),
    "a result that is a list": lambda parts: with_about(parts, "outcome", "[]"),
    "a result too deep": lambda parts: with_about(parts, "outcome", str(DEEP)),
    "other labels": outcome("labels", [0, 1, 0, 1, 0, 1]),
    "another status": outcome("status", "budget"),
    "another question": outcome("question", 2),
    "other evidence": outcome("evidence", [1e9] * 6),
    "another certificate": outcome("certificate_text", "Everything is certain."),
    "no certificate": outcome("certificate", None),
    "other answers": outcome("answers", 1),
    "a result with more": outcome("also", "<script>"),
}


def encrypted(content: bytes) -> bytes:
    """Every part's flag says that it has a password."""
    changed = bytearray(content)
    for start, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        place = changed.find(start)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(start, place + 4)
    return bytes(changed)


@pytest.mark.parametrize("name", BAD)
def test_what_is_bad_is_refused(
    good: dict[str, Parts], store: Store, tmp_path: Path, name: str
) -> None:
    check_refused(good["half way"], BAD[name], store, tmp_path)


@pytest.mark.parametrize("name", BAD_ENDS)
def test_a_bad_end_is_refused(
    good: dict[str, Parts], store: Store, tmp_path: Path, name: str
) -> None:
    check_refused(good["ended"], BAD_ENDS[name], store, tmp_path)


@pytest.mark.parametrize("name", list(BAD)[::4])
def test_postgresql_refuses_the_same(
    good: dict[str, Parts], fresh_database: str, tmp_path: Path, name: str
) -> None:
    store = Store(fresh_database)
    check_refused(good["half way"], BAD[name], store, tmp_path)
    store.close()


def check_refused(parts: Parts, change: Change, store: Store, folder: Path) -> None:
    changed = change(parts)
    content = changed if isinstance(changed, bytes) else packed(changed)
    assert content != packed(parts), "the test changes nothing"
    assert refusal(store, content, folder) is not None


@pytest.mark.parametrize("name", ["half way", "ended"])
def test_what_is_good_is_taken(
    good: dict[str, Parts], store: Store, tmp_path: Path, name: str
) -> None:
    assert refusal(store, packed(sealed(good[name])), tmp_path) is None
    use(store, tmp_path)


BOMBS = {
    "one endless line": ("items.jsonl", b"x"),
    "endless lines": ("items.jsonl", b"\n"),
    "an endless manifest": ("manifest.json", b" "),
}


# ru_maxrss would count the process that started this one.
IMPORTS = """
import sys
from pathlib import Path
from askfew.cli import main

try:
    main()
finally:
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_in_bounded_memory(
    good: dict[str, Parts], tmp_path: Path, bomb: str, padded: bool
) -> None:
    """A thousand times what it is in the file; or less, with a picture that looks honest."""
    part, filler = BOMBS[bomb]
    block = filler * (1 << 20)
    parts = dict(good["half way"])
    if padded:
        picture = GIF + random.Random(0).randbytes(4_900_000)
        parts[f"images/{hashlib.sha256(picture).hexdigest()}"] = picture
    digest = hashlib.sha256()
    for _ in range(1 << 8):
        digest.update(block)
    manifest = json.loads(sealed(parts)["manifest.json"])
    manifest["digests"].update({part: digest.hexdigest()} if part == "items.jsonl" else {})
    parts["manifest.json"] = json.dumps(manifest).encode()
    file = tmp_path / "bomb.askfew"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            if name != part:
                made.writestr(name, content)
        with made.open(part, "w", force_zip64=True) as inside:
            for _ in range(1 << 8):
                inside.write(block)
    said = subprocess.run(
        [sys.executable, "-c", IMPORTS, "import", file, "--store", f"sqlite:///{tmp_path}/s.db"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert said.returncode == 2, said.stderr
    assert said.stderr.startswith(f"askfew: {file}: this must be a campaign's file")
    assert len(said.stderr.splitlines()) == 1
    assert int(said.stdout) < 600_000  # kilobytes
