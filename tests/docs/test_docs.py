"""What README and docs say is run: Python blocks, commands, options, links."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from askfew.algorithms.rule.tuning import Tuning
from askfew.cli import app
from askfew.cli.commands import LazyCommand
from askfew.workers.llm.config import read_config

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DOCS = ROOT / "docs"
MADE = {"_build", "auto_gallery"}  # by building the site
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(page for page in DOCS.rglob("*.md") if not MADE & set(page.relative_to(DOCS).parts)),
]
FENCE = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FETCHED = re.compile(r"<(?:script|img)[^>]+src=.https?:|<link[^>]+stylesheet[^>]+href=.https?:")
ASSIGNMENT = re.compile(r"^[A-Z_]+=\S* ")

PRINTED = {"README.md": "20 labels are right, all of them with probability at least 0.95"}
"""By the Python of a page that does not show it."""

COMMANDS: Any = typer.main.get_command(app)


class Said(NamedTuple):
    """A command as a page shows it: whole in a block, perhaps abridged in a sentence."""

    page: str
    words: tuple[str, ...]
    whole: bool


def blocks(page: Path, kind: str) -> list[str]:
    return [
        found["text"] for found in FENCE.finditer(page.read_text()) if found["kind"].strip() == kind
    ]


def said_commands() -> list[Said]:
    found = []
    for page in PAGES:
        for kind in ("sh", "sh run"):
            for line in "".join(blocks(page, kind)).replace("\\\n", "").splitlines():
                command = ASSIGNMENT.sub("", line.split(" > ")[0])
                if command.startswith("askfew "):
                    words = tuple(shlex.split(command, comments=True)[1:])
                    found.append(Said(page.name, words, True))
        for code in INLINE.findall(FENCE.sub("", page.read_text())):
            if code.startswith("askfew "):
                found.append(Said(page.name, tuple(shlex.split(code)[1:]), False))
    return found


def itself(command: Any) -> Any:
    return command.load() if isinstance(command, LazyCommand) else command


def leaf(words: tuple[str, ...]) -> tuple[Any, list[str]]:
    """The command that the words lead to, and the words left for it."""
    command, rest = COMMANDS, list(words)
    while rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"there is no command {rest[0]!r}"
        command = itself(command.commands[rest.pop(0)])
    return command, rest


def options_of(command: Any) -> set[str]:
    own = {name for each in command.params for name in each.opts + each.secondary_opts}
    inner = (options_of(itself(each)) for each in getattr(command, "commands", {}).values())
    return own.union({"--help"}, *inner)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_python_blocks_run_and_are_formatted(page: Path, tmp_path: Path) -> None:
    found = blocks(page, "python")
    for number, block in enumerate(found):
        (tmp_path / f"block_{number}.py").write_text(block)
    config = ROOT / "pyproject.toml"
    ruff = [str(each) for each in (BIN / "ruff", "format", "--config", config, "--diff", tmp_path)]
    formatted = subprocess.run(ruff, capture_output=True, text=True, timeout=600)
    assert formatted.returncode == 0, formatted.stdout
    (tmp_path / "all.py").write_text("\n".join(found))
    ran = subprocess.run(
        [sys.executable, "-W", "error", "all.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=6000,
    )
    assert ran.returncode == 0, ran.stderr
    shown = {line for block in blocks(page, "text") for line in block.splitlines()} - {"..."}
    assert shown <= set(ran.stdout.splitlines()), "what the page says it prints"
    assert PRINTED.get(page.name, "") in ran.stdout


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "sh run")], ids=lambda p: p.name)
def test_blocks_that_say_so_run_as_they_stand(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("ASKFEW_STORE", None)
    ran = subprocess.run(
        ["sh", "-e", "-c", "\n".join(blocks(page, "sh run"))],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_configuration_of_models_has_every_key(tmp_path: Path) -> None:
    (block,) = blocks(ROOT / "docs" / "workers.md", "toml")
    (tmp_path / "judges.toml").write_text(block)
    config = read_config(tmp_path / "judges.toml")
    assert set(tomllib.loads(block)) == {each.name for each in fields(config)}
    assert config.models == tuple(config.prices)


@pytest.mark.parametrize("said", said_commands(), ids=lambda s: f"{s.page}: {' '.join(s.words)}")
def test_commands_that_are_named_exist_with_their_options(said: Said) -> None:
    command, rest = leaf(said.words)
    if said.whole:
        command.make_context(command.name, rest)  # as it is typed: options, types, arguments
    unknown = {word for word in rest if word.startswith("--")} - options_of(command)
    assert not unknown, unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_options_in_sentences_exist_somewhere(page: Path) -> None:
    known = options_of(COMMANDS)
    inline = INLINE.findall(FENCE.sub("", page.read_text()))
    said = {code.split()[0] for code in inline if code.startswith("--")}
    assert said <= known, said - known


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    for file, anchor in LINK.findall(FENCE.sub("", page.read_text())):
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{file} is not there"
        if anchor:
            headings = HEADING.findall(FENCE.sub("", target.read_text()))
            assert anchor in {_anchor(each) for each in headings}, f"{file} has no #{anchor}"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every page is in the table of contents, every reference leads somewhere, the gallery runs."""
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", tmp_path / "html"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert built.returncode == 0, built.stderr
    for page in PAGES[2:]:
        assert (tmp_path / "html" / page.relative_to(DOCS)).with_suffix(".html").exists()
    pictures = list((tmp_path / "html" / "_images").glob("sphx_glr_plot_*.png"))
    assert len(pictures) >= len(list((DOCS / "gallery").glob("plot_*.py")))
    listed = (tmp_path / "html" / "constants.html").read_text()
    assert all(name in listed for name in Tuning.__dataclass_fields__)
    table = (tmp_path / "html" / "measurements" / "groups.html").read_text()
    assert re.search(r'<td class="number"><p>\d+ of 2000</p></td>', table)  # on one line
    for page in (tmp_path / "html").rglob("*.html"):  # scripts, styles and pictures come with it
        assert not FETCHED.search(page.read_text()), page.name


def _anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.strip().replace(" ", "-")
