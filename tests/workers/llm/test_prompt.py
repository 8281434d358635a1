"""Prompts: good defaults, one's own templates, and one sentence for what is wrong in them."""

import base64
from pathlib import Path

import pytest

from askfew.answers import AnswerKind, Number, Scale, YesNo
from askfew.campaigns.campaign import Assignment, Shown
from askfew.errors import InvalidInput
from askfew.workers.llm.prompt import Prompts

ASKED = Assignment(
    "1-0-7-abc", Shown("duck", "A mallard"), Shown("swims", "Does it swim?"), 0.0, 0.0
)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (YesNo(), '{"answer": "yes"} or {"answer": "no"}'),
        (Scale(1, 5), "a scale from 1 to 5"),
        (Number(1.0), "your best estimate"),
    ],
)
def test_every_kind_of_answer_has_its_template(kind: AnswerKind, form: str) -> None:
    text = Prompts(kind, "Birds only.").write(ASKED, 0).text
    for part in ("A mallard", "Does it swim?", "Birds only.", form):
        assert part in text
    assert "picture" not in text
    assert "\n\n\n" not in text


def test_a_picture_goes_along_as_data() -> None:
    asked = Assignment(
        "1-0-0-a", Shown("duck", "", "hash"), Shown("swims", "Does it swim?"), 0.0, 0.0
    )
    prompt = Prompts(YesNo(), "").write(asked, 0, ("image/png", b"bytes"))
    (message,) = prompt.messages()
    text, picture = message["content"]
    assert "the attached picture" in text["text"]
    assert "duck" not in text["text"]
    encoded = base64.b64encode(b"bytes").decode()
    assert picture["image_url"]["url"] == f"data:image/png;base64,{encoded}"


def test_paraphrases_are_used_in_turn() -> None:
    prompts = Prompts(YesNo(), "", ["{{ question }}", "Again: {{ question }}"])
    texts = [prompts.write(ASKED, variant).text for variant in range(4)]
    assert ["Again: Does it swim?" in text for text in texts] == [False, True, False, True]


def test_an_item_cannot_write_templates() -> None:
    asked = Assignment(
        "1-0-0-a", Shown("x", "{{ key }} {% raw %}"), Shown("q", "{{ 1/0 }}"), 0.0, 0.0
    )
    text = Prompts(YesNo(), "{{ guidelines }}").write(asked, 0).text
    assert "{{ key }} {% raw %}" in text
    assert "{{ 1/0 }}" in text


def test_an_item_cannot_close_the_fence_around_it() -> None:
    prompts, fences = Prompts(YesNo(), ""), set()
    for _ in range(50):
        lines = prompts.write(ASKED, 0).text.splitlines()
        above = lines[lines.index("A mallard") - 1]
        assert lines[lines.index("A mallard") + 1] == above
        fences.add(above)
    assert len(fences) == 50  # nobody can write into an item what nobody knows yet


def test_a_template_of_ones_own_may_use_the_fence(tmp_path: Path) -> None:
    file = tmp_path / "mine.j2"
    file.write_text("{{ fence }}|{{ item }}|{{ fence }}")
    above, item, below = Prompts(YesNo(), "", template=file).write(ASKED, 0).text.split("|")
    assert (above, item) == (below, "A mallard")


SHELL = (
    "{% for each in ''.__class__.__mro__[1].__subclasses__() if each.__name__ == '_wrap_close' %}"
    "{{ each.__init__.__globals__['popen']('echo > ran').read() }}{% endfor %}{{ question }}"
)


def test_neither_template_nor_paraphrase_runs_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.j2"
    file.write_text(SHELL)
    with pytest.raises(InvalidInput, match=r"SecurityError .*: fix it"):
        Prompts(YesNo(), "", [SHELL])
    with pytest.raises(InvalidInput, match=r"SecurityError .*: fix it"):
        Prompts(YesNo(), "", template=file)
    assert not (tmp_path / "ran").exists()


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.j2"
    file.write_text("{{ item_id }}, {{ ask }} ({{ id }})")
    prompts = Prompts(YesNo(), "", template=file)
    assert prompts.write(ASKED, 0).text == "duck, Does it swim? (1-0-7-abc)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{{ itm }}", r"mine\.j2 may name .*, got 'itm': fix the template"),
        ("{% if image %}{{ picture }}{% endif %}", "got 'picture'"),
        ("{{ item", r"mine\.j2 must be a Jinja template"),
        ("{{ item.colour }}", "must be a template that can be filled in"),
        ("{{ 1 / 0 }}", "must be a template that can be filled in"),
        ("{% include 'gone.j2' %}", "must be a template that can be filled in"),
    ],
)
def test_what_is_wrong_with_a_template_is_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    file = tmp_path / "mine.j2"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=sentence):
        Prompts(YesNo(), "", template=file)
