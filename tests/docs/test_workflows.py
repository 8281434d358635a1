"""The workflow files: what they name exists, and nobody can change an action under our feet."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash_with_their_version(path: Path) -> None:
    used = [line.strip(" -") for line in path.read_text().splitlines() if "uses:" in line]
    assert used
    assert [line for line in used if not PINNED.match(line)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_they_run_is_there(path: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = yaml.safe_load(path.read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    made = {target for text in commands for target in re.findall(r"^make (\S+)", text)}
    scripts = {name for text in commands for name in re.findall(r"scripts/\S+", text)}
    assert made <= targets
    assert all((ROOT / name).exists() for name in scripts)
