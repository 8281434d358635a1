import codecs
import csv
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askfew import Rule
from askfew.answers import Number, Scale
from askfew.campaigns.folder.load import read_folder
from askfew.campaigns.records import LARGEST_PICTURE, Item, Question, media_type
from askfew.campaigns.settings import Settings
from askfew.errors import InvalidInput, shown

SETTINGS = '[campaign]\nname = "birds"\n'
ITEMS = "id,text,image\na,An owl,\nb,A duck,\n"
QUESTIONS = "id,text\nq,Does it swim?\n"
PNG = b"\x89PNG\r\n\x1a\n rest"
PICTURES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0 rest",
    "image/gif": b"GIF89a rest",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A good folder "birds", to be spoilt; it is named from the directory above."""
    monkeypatch.chdir(tmp_path)
    path = Path("birds")
    path.mkdir()
    fill(path)
    return path


def fill(
    path: Path,
    settings: str | bytes = SETTINGS,
    items: str | bytes = ITEMS,
    questions: str | bytes = QUESTIONS,
) -> None:
    for name, content in (
        ("campaign.toml", settings),
        ("items.csv", items),
        ("questions.csv", questions),
    ):
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_folder(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 500
    return sentence


def test_a_good_folder(folder: Path) -> None:
    campaign = read_folder("birds")
    assert campaign.settings.name == "birds"
    assert campaign.items == (Item("a", "An owl"), Item("b", "A duck"))
    assert campaign.questions == (Question("q", "Does it swim?"),)


def test_the_example_of_the_product(folder: Path) -> None:
    text = (
        '[campaign]\nname = "birds"            # unique in its store\ndelta = 0.05\n'
        "answers = { number = { sigma = 2.0 } }\nmax_answers = 5000\n"
        "answers_per_worker_and_cell = 1   # how often\nprice = 0.02\nseed = 7\n"
        "lease_seconds = 600\n"
    )
    fill(folder, text, "id, text, image\n x1 , A owl ,\nx2,,\n", "id, text\nq1, Is it?\n")
    campaign = read_folder(folder)
    assert campaign.settings.answers == Number(2.0)
    assert campaign.settings.max_answers == 5000
    assert campaign.items == (Item("x1", "A owl"), Item("x2"))
    assert [item.shown for item in campaign.items] == ["A owl", "x2"]


def test_settings_may_be_written_any_way_toml_allows(folder: Path) -> None:
    for text in (
        SETTINGS + "[campaign.answers]\nscale = [1, 5]\n",
        SETTINGS + "answers.scale = [1,\n 5]\n",
        'campaign = { name = "birds", answers = { scale = [1, 5] } }',
        'campaign.name = "birds"\ncampaign.answers.scale = [1, 5]\n',
    ):
        fill(folder, text)
        assert read_folder(folder).settings.answers == Scale(1, 5)


def test_order_is_that_of_the_file(folder: Path) -> None:
    ids = [f"{37 * n % 101}" for n in range(101)]
    fill(folder, items="id,text,image\n" + "".join(f"{name},,\n" for name in ids))
    assert [item.id for item in read_folder(folder).items] == ids


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_a_byte_order_mark(folder: Path, end: str) -> None:
    items = '\ufeffid,text,image\n\na,"An owl,\nby night",\n\nb,"A ""duck""",\n   \n'
    fill(
        folder,
        codecs.BOM_UTF8 + SETTINGS.replace("\n", end if end != "\r" else "\n").encode(),
        items.replace("\n", end),
        QUESTIONS.replace("\n", end),
    )
    first, second = read_folder(folder).items
    assert first.text == f"An owl,{end}by night"
    assert second.text == 'A "duck"'


def test_columns_may_stand_in_any_order_and_image_may_be_missing(folder: Path) -> None:
    fill(folder, items="Text,ID\nAn owl,a\nA duck,b\n", questions="text,id\nWhy?,q\n")
    campaign = read_folder(folder)
    assert campaign.items[0] == Item("a", "An owl")
    assert campaign.questions == (Question("q", "Why?"),)


@pytest.mark.parametrize(
    ("added", "sentence"),
    [
        ("prise = 1\n", "line 3: settings must be known keys, got 'prise': did you mean price?"),
        ("\n# price\nprice = 'a'\n", "line 5: price must be a number"),
        ('guidelines = """\nprice = 1\nprice = 2"""\nprice = -1\n', "line 6: price must be"),
        ("answers = [\n1,\n2]\nprice = 1\n", "line 3: answers must be"),
        ("[campaign.answers.number]\nsigma = -1\n", "line 3: answers must be"),
        ("answers.scale = [5, 1]\n", "line 3: answers must be"),
        ("\n\n= 3\n", "line 5: this must be TOML, got an error"),
        ("name = 'twice'\n", "line 3: this must be TOML, got an error"),
        ('price = """\n\n', "line 3: this must be TOML, got an error (Unterminated string)"),
        ("\nseed = " + "9" * 5000 + "\nprice = 1", "line 4: values must be of a sensible size"),
        ("options = " + "[" * 20_000, "line 3: values must be of a sensible size"),
        ("seed = 0x" + "f" * 5000, "line 3: seed must be a whole number"),
        ("delta = nan\n", "line 3: delta"),
        ("delta = 2024-01-01\n", "line 3: delta must be a number"),
        ("options = { a = 2024-01-01 }\n", "line 3: options must be"),
        ("seed = 3\n[campaign.options]\nspeed = 2\n", "line 4: rule takes the options"),
        ("seed = 3\nmethod = 'kmeans'\n", "line 4: the method kmeans needs a budget"),
        ("method = 'told-gap'\noptions.gap = -1.0\n", "line 4: gap must be a positive number"),
        ("method = 'adaptive-kmeans'\noptions.budget = 1\n", "line 4: budget must be at least 2"),
        ("[campaing]\n", "line 3: settings must stand below [campaign], got 'campaing'"),
        ("[other]\nprice = 3\n", "line 3: settings must stand below [campaign], got 'other'"),
    ],
    ids=shown,
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_wrong_settings_name_their_line(folder: Path, added: str, sentence: str, end: str) -> None:
    fill(folder, (SETTINGS + added).replace("\n", end))
    assert refusal(folder).startswith(f"birds/campaign.toml {sentence}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: the file must have a table [campaign], got none"),
        ("\ncampaign = 3", "line 2: the file must have a table [campaign], got 3"),
        ("[[campaign]]\nname = 'x'", "line 1: the file must have a table [campaign], got ["),
        ("# name\n[campaign]\n# name\nseed = 3\n", "line 2: a campaign must have a name"),
        ("[campaign]\n[campaign.options]\na = 1\n", "line 1: a campaign must have a name"),
        ("\nname = 'x'\n", "line 2: settings must stand below [campaign], got 'name': move it"),
        ("a = 1\r\n\r\nb = \xff".encode("latin-1"), "line 3: the text must be UTF-8, got the byte"),
        ("a = 1\n\0", "line 2: the text must be plain, got a NUL character"),
        (SETTINGS.encode("utf-16"), "line 1: the text must be UTF-8, got the byte 0xFF"),
    ],
    ids=shown,
)
def test_wrong_files_of_settings(folder: Path, text: str | bytes, sentence: str) -> None:
    fill(folder, text)
    assert refusal(folder).startswith(f"birds/campaign.toml {sentence}")


@pytest.mark.parametrize("key", ["a", "'a b'", '"a.b"'])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "options = {{ {} = 1 }}"])
def test_a_key_of_20000_parts_is_refused_at_once(folder: Path, key: str, form: str) -> None:
    fill(folder, SETTINGS + form.format(".".join([key] * (20_000 // len(key)))))
    began = time.process_time()  # whatever else the machine does
    assert "campaign.toml line 3: a key must have fewer than 32 parts" in refusal(folder)
    assert time.process_time() - began < 1


def test_a_file_of_settings_is_small(folder: Path) -> None:
    fill(folder, SETTINGS + "#" * 64_000)
    assert "campaign.toml: this file must have at most 64,000 bytes" in refusal(folder)


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        (
            "",
            "line 1: the first row must name the columns id,text (and may name image,group), got",
        ),
        (
            "\n\nid,image\n",
            "line 3: the first row must name the columns id,text (and may",
        ),
        (
            "text,image\n",
            "line 1: the first row must name the columns id,text (and",
        ),
        (
            "a,An owl,\nb,A duck,\n",
            "line 1: the first row must name the columns id,text (and",
        ),
        ("id text image\n", "line 1: the first row must name the columns id,text (and"),
        (
            "id;text\na;x;y\n",
            'line 2: a row must have 2 fields (id,text), got 3: put a text with semicolons in "q',
        ),
        ("id,text,image,imag\n", "line 1: columns must be among id,text,image,group, got 'imag'"),
        ("id,text,image,\n", "line 1: columns must be among id,text,image,group, got ''"),
        ("id,text,text\n", "line 1: a column must come once, got text twice"),
        ("id,text,image\na,b\n", "line 2: a row must have 3 fields (id,text,image), got 2"),
        ("id,text,image\n\na,b,,\n", "line 3: a row must have 3 fields (id,text,image), got 4"),
        (
            "id,text,image\na,,\n,b,\n",
            "line 3: an id must be 1 to 200 characters on one line, got n",
        ),
        ("id,text,image\n,,\n", "line 2: an id must be"),
        ('id,text,image\n"a\nb",,\n', "line 2: an id must be"),
        ("id,text,image\na\x1bb,,\n", "line 2: an id must be"),
        ("id,text,image\n" + "a" * 201 + ",,\n", "line 2: an id must be"),
        (
            'id,text,image\na,"one\ntwo",\nb,,\n\n a ,,\n',
            "line 6: an id must be used once, got 'a' again, first used on line 2",
        ),
        ("id,text,image\n", "line 1: there must be at least two items, got 0"),
        ("id,text,image\n\na,,\n\n", "line 3: there must be at least two items, got 1"),
        ('id,text,image\na,,\nb,"open,\nc,,\n', "line 3: this must be a row of a CSV file"),
        ('id,text,image\na,,\nb,"x" y,\n', "line 3: this must be a row of a CSV file"),
        (
            "id,text,image\na," + "x" * 1_000_000 + ",\n",
            "line 2: a text must have at most 10,000 characters, got more than 131,072: shorten",
        ),
        (
            "id,text,image\na," + "x" * 10_001 + ",\n",
            "line 2: text must have at most 10,000 characters, got 10,001",
        ),
        ("id,text,image\na,b\0,\n", "line 2: the text must be plain, got a NUL character"),
        ("id,text,image\r\ra,\xe4,\n".encode("latin-1"), "line 3: the text must be UTF-8"),
        (b"id,text,image\na,\xc3", "line 2: the text must be UTF-8, got the byte 0xC3"),
    ],
    ids=shown,
)
def test_wrong_items_name_their_line(folder: Path, items: str | bytes, sentence: str) -> None:
    fill(folder, items=items)
    assert refusal(folder).startswith(f"birds/items.csv {sentence}")


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ("id,text,image\nq,Why?,\n", "line 1: columns must be among id,text,defines, got 'image'"),
        ("id,txt\nq,Why?\n", "line 1: the first row must name the columns id,text"),
        ("id,text\n", "line 1: there must be at least one question, got 0"),
        ("id,text\nq,Why?\nr, \n", "line 3: a question must have a text"),
        ("id,text\nq,Why?\nq,How?\n", "line 3: an id must be used once, got 'q' again, first"),
        ("id,text\nq,Why, and how?\n", "line 2: a row must have 2 fields"),
    ],
    ids=shown,
)
def test_wrong_questions_name_their_line(folder: Path, questions: str, sentence: str) -> None:
    fill(folder, questions=questions)
    assert refusal(folder).startswith(f"birds/questions.csv {sentence}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_tables_as_spreadsheets_write_them(folder: Path, mark: str, end: str) -> None:
    rows = [["id", "text"], ["a", "An owl, grey"], ["b", f'"Duck{mark} ""x"""']]
    table = end.join(mark.join(row) for row in rows) + end
    fill(folder, items=codecs.BOM_UTF8 + table.encode())
    assert [each.text for each in read_folder(folder).items] == [
        "An owl, grey",
        f'Duck{mark} "x"',
    ]


def test_a_text_of_just_the_longest_length_is_fine(folder: Path) -> None:
    fill(folder, items=f"id,text\na,{'x' * 10_000}\nb,\n")
    assert len(read_folder(folder).items[0].text) == 10_000


def test_a_raised_limit_of_the_csv_module_changes_little(folder: Path) -> None:
    fill(folder, items=f"id,text\na,{'x' * 1_000_000}\nb,\n")
    before = csv.field_size_limit(10**7)
    try:
        assert "line 2: text must have at most 10,000 characters" in refusal(folder)
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["campaign.toml", "items.csv", "questions.csv"])
def test_every_file_is_needed(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder).startswith(f"birds/{name}: this file must exist, got none")
    (folder / name).mkdir()
    assert refusal(folder).startswith(f"birds/{name}: this must be a file")
    (folder / name).rmdir()
    os.mkfifo(folder / name)
    assert refusal(folder).startswith(f"birds/{name}: this must be a file")
    (folder / name).unlink()
    (folder / name).symlink_to(name)
    assert refusal(folder).startswith(f"birds/{name}: this file must be readable")


def test_a_folder_is_needed(folder: Path) -> None:
    assert refusal(Path("bird")).startswith("bird: this must be a campaign's folder, got none")
    assert "got a file" in refusal(folder / "items.csv")
    with pytest.raises(InvalidInput, match="must be a campaign's folder, got none"):
        read_folder("x" * 5000)


@pytest.mark.parametrize(("kind", "data"), PICTURES.items())
def test_pictures(folder: Path, kind: str, data: bytes) -> None:
    (folder / "pictures").mkdir()
    (folder / "pictures" / "owl").write_bytes(data)
    fill(folder, items="id,text,image\na,,pictures/owl\nb,A duck,./pictures/owl\n")
    first, second = read_folder(folder).items
    assert first == Item("a", "", data, "pictures/owl")
    assert first.shown == ""
    assert second.image == data
    assert media_type(data) == kind


def test_a_picture_of_just_the_largest_size_is_fine(folder: Path) -> None:
    (folder / "owl.png").write_bytes(PNG.ljust(LARGEST_PICTURE, b"\0"))
    fill(folder, items="id,text,image\na,,owl.png\nb,,\n")
    assert len(read_folder(folder).items[0].image or b"") == LARGEST_PICTURE
    (folder / "owl.png").write_bytes(PNG.ljust(LARGEST_PICTURE + 1, b"\0"))
    assert "line 2: image must have at most 5,000,000 bytes" in refusal(folder)


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.png", "a/../../secret.png", "/etc/passwd", "C:\\secret.png", "..\\secret.png"),
        *("link.png", "linked/secret.png", "\\\\host\\share\\x.png"),
    ],
)
def test_pictures_outside_the_folder_are_refused(folder: Path, name: str) -> None:
    Path("secret.png").write_bytes(PNG)
    (folder / "a").mkdir()
    (folder / "link.png").symlink_to(Path("secret.png").resolve())
    (folder / "linked").symlink_to(Path().resolve())
    fill(folder, items=f"id,text,image\na,,\nb,,{name}\n")
    sentence = refusal(folder)
    assert sentence.startswith("birds/items.csv line 3: image must be a path inside the folder")
    assert repr(name) in sentence


def test_a_neighbour_whose_name_begins_alike_is_outside(folder: Path) -> None:
    Path("birds2").mkdir()
    Path("birds2/owl.png").write_bytes(PNG)
    (folder / "owl.png").symlink_to(Path("birds2/owl.png").resolve())
    fill(folder, items="id,text,image\na,,owl.png\nb,,\n")
    assert "line 2: image must be a path inside the folder" in refusal(folder)


def test_a_link_within_the_folder_and_a_link_to_the_folder_are_fine(folder: Path) -> None:
    (folder / "real.png").write_bytes(PNG)
    (folder / "owl.png").symlink_to("real.png")
    fill(folder, items="id,text,image\na,,owl.png\nb,,\n")
    Path("other").symlink_to(folder)
    assert read_folder("other").items[0].image == PNG


@pytest.mark.parametrize(
    "name", ["owl.png", "a", ".", "pipe", "loop", "x" * 5000, "items.csv/x"], ids=shown
)
def test_pictures_that_are_no_files_are_refused(folder: Path, name: str) -> None:
    (folder / "a").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    fill(folder, items=f"id,text,image\na,,{name}\nb,,\n")
    assert refusal(folder).startswith("birds/items.csv line 2: image must be a file in the folder")


@pytest.mark.parametrize(
    "data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"text", b"RIFF1234WAVE", b"BM"]
)
def test_other_pictures_are_refused(folder: Path, data: bytes) -> None:
    (folder / "owl.png").write_bytes(data)
    fill(folder, items="id,text,image\na,,owl.png\nb,,\n")
    assert "line 2: image must be a PNG, JPEG, GIF or WebP picture" in refusal(folder)


def read_or_refuse(path: Path, name: str) -> None:
    place = sentence = f"{path / name}"
    try:
        read_folder(path)
    except InvalidInput as error:
        sentence = str(error)
    assert sentence.startswith(place)
    assert "\n" not in sentence


SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
CSV_TEXT = st.text(st.sampled_from('ab,;"\n\r \0\t\ufeff\u2028é/.\ud7ff'), max_size=40)
TOML_TEXT = st.lists(
    st.sampled_from(
        [
            *("[", "]", "campaign", "\n", "\r\n", " = ", ".", '"', '"""', "'", "{", "}", ",", "#"),
            *("\\", "name", "price", "options", "answers", "1", "-", "nan", "'x'", "2024-01-01"),
        ]
    ),
    max_size=40,
).map("".join)


@SAME_FOLDER
@given(content=st.binary(max_size=60) | CSV_TEXT.map(str.encode))
def test_any_bytes_are_read_or_refused(folder: Path, content: bytes) -> None:
    fill(folder, items=content)
    read_or_refuse(folder, "items.csv")
    fill(folder, questions=content)
    read_or_refuse(folder, "questions.csv")
    fill(folder, settings=content)
    read_or_refuse(folder, "campaign.toml")


@SAME_FOLDER
@given(rows=CSV_TEXT)
def test_any_rows_are_read_or_refused(folder: Path, rows: str) -> None:
    fill(folder, items="id,text,image\n" + rows)
    read_or_refuse(folder, "items.csv")
    fill(folder, questions="id,text\n" + rows)
    read_or_refuse(folder, "questions.csv")


@SAME_FOLDER
@given(text=TOML_TEXT, head=st.sampled_from(["", "[campaign]\n", SETTINGS]))
def test_any_toml_is_read_or_refused(folder: Path, text: str, head: str) -> None:
    fill(folder, settings=head + text)
    read_or_refuse(folder, "campaign.toml")


NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20)


@SAME_FOLDER
@given(texts=st.dictionaries(NAMES, st.text(st.characters(categories=["L", "P", "Zs"]))))
def test_what_csv_writes_is_read(folder: Path, texts: dict[str, str]) -> None:
    rows = {"first": "1", "second": "2", **texts}
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *rows.items()])
    found = read_folder(folder).items
    assert [(item.id, item.text) for item in found] == [(k, v.strip()) for k, v in rows.items()]


MANY = "id,text,image,group\n" + "".join(f"i{n},,,{{{n}}}\n" for n in range(6))


def with_groups(*names: str) -> str:
    return MANY.format(*(*names, *[""] * (6 - len(names))))


def test_the_settings_of_the_method_rule(folder: Path) -> None:
    text = SETTINGS + (
        'method = "rule"\ngroups = [3, 2]\nerror = "share"\nper_cell = 12\nlimit = 90\n'
        'margin = 0.4\nrepeats = "fresh"\npeople = 4\n'
    )
    fill(folder, text, with_groups(), "id,text,defines\nq,Does it swim?,\n")
    settings = read_folder(folder).settings
    assert settings.arguments() == {
        "groups": [2, 3],
        "error": "share",
        "per_cell": 4,  # as many as there are people
        "limit": 90,
        "margin": 0.4,
    }
    assert Settings.from_dict(settings.to_dict()) == settings


def test_anchors_and_defining_questions(folder: Path) -> None:
    questions = "id,text,defines\nq,Does it swim?,yes\nr,Does it fly?,No\ns,Is it red?,\n"
    fill(folder, items=with_groups("duck", "owl"), questions=questions)
    campaign = read_folder(folder)
    assert [item.group for item in campaign.items] == ["duck", "owl", "", "", "", ""]
    assert [question.defines for question in campaign.questions] == [True, False, False]


def test_a_rule_in_the_folder(folder: Path) -> None:
    rule = Rule.cut("q", 0.5, ["owl", "duck"])
    rule.save(folder / "rule.json")
    fill(folder, SETTINGS + 'rule = "rule.json"\n')
    assert read_folder(folder).settings.rule == rule


QUESTION = "id,text,defines\nq,Does it swim?,\n"


@pytest.mark.parametrize(
    ("settings", "items", "questions", "sentence"),
    [
        (
            'rule = "unknown.json"\n',
            ITEMS,
            QUESTION,
            "campaign.toml line 3: a rule's questions must be among those that can be asked, got"
            " 'elsewhere'",
        ),
        ('rule = "none.json"\n', ITEMS, QUESTION, "campaign.toml line 3: birds/none.json: this"),
        ('rule = "../x"\n', ITEMS, QUESTION, "campaign.toml line 3: rule must be the name of a"),
        ('rule = "bad.json"\n', ITEMS, QUESTION, "campaign.toml line 3: bad.json: a rule's file"),
        ('rule = "{}.json"\n', ITEMS, QUESTION, "campaign.toml line 3: a rule must be a table"),
        (
            'method = "frugal"\nrule = "good.json"\n',
            ITEMS,
            QUESTION,
            "campaign.toml line 4: rule is a setting of another method, got method 'frugal'",
        ),
        (
            'method = "frugal"\nerror = "share"\n',
            ITEMS,
            QUESTION,
            "campaign.toml line 4: error is a setting of another method, got method 'frugal'",
        ),
        (
            "",
            with_groups("duck", "duck"),
            QUESTION,
            "items.csv: anchors must show at least two groups, each by one item or more, got"
            " anchors of duck only",
        ),
        (
            "groups = 3\n",
            with_groups("duck", "owl"),
            QUESTION,
            "items.csv: anchors must show as many groups as are asked for (3), got 2 groups",
        ),
        (
            'method = "frugal"\n',
            with_groups("duck", "owl"),
            QUESTION,
            "items.csv: the column group of items.csv is for a method that uses it, got method"
            " 'frugal'",
        ),
        (
            "groups = 7\n",
            with_groups(),
            QUESTION,
            "campaign.toml line 3: there cannot be more groups than the 6 items, got 7",
        ),
        ("per_cell = 0\n", ITEMS, QUESTION, "campaign.toml line 3: per_cell must be a whole"),
        ('groups = "many"\n', ITEMS, QUESTION, "campaign.toml line 3: groups must be a whole"),
        (
            'error = "all"\n',
            ITEMS,
            QUESTION,
            'campaign.toml line 3: error must be "any" or "share"',
        ),
        ("margin = 0.9\n", ITEMS, QUESTION, "campaign.toml line 3: margin must be a number above"),
        ("people = 0\n", ITEMS, QUESTION, "campaign.toml line 3: people must be a whole number"),
        (
            "options.anchors = 1\n",
            ITEMS,
            QUESTION,
            "campaign.toml line 3: options are what the method alone takes, got anchors: write it"
            " in the column group",
        ),
        (
            "",
            "id,text,group\na,,duck\nb,,owl\na,,owl\n",
            QUESTION,
            "items.csv line 4: an item must be in one group, got 'a' in 'owl' and, on line 2, in"
            " 'duck'",
        ),
        ("", "id,text,group\na,,duck\na,,duck\n", QUESTION, "items.csv line 3: an id must be used"),
        ("", ITEMS, "id,text,defines\nq,Why?,maybe\n", "questions.csv line 2: defines must be yes"),
    ],
    ids=shown,
)
def test_what_does_not_go_with_the_method_rule(
    folder: Path, settings: str, items: str, questions: str, sentence: str
) -> None:
    Rule.cut("elsewhere", 0.5).save(folder / "unknown.json")
    Rule.cut("q", 0.5).save(folder / "good.json")
    (folder / "bad.json").write_text("{")
    (folder / "{}.json").write_text("{}")
    fill(folder, SETTINGS + settings, items, questions)
    assert refusal(folder).startswith(f"birds/{sentence}")
