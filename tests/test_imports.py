"""What is imported when: nobody waits for what they do not use."""

import subprocess
import sys

import pytest

import askfew

HEAVY = [
    "alembic",
    "fastapi",
    "httpx2",
    "joblib",
    "matplotlib",
    "numpy",
    "pandas",
    "scipy",
    "sqlalchemy",
    "uvicorn",
]


def loaded_by(code: str) -> set[str]:
    last = "import sys; print(); print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{last}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return set(ran.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", ["--help", "--version"])
def test_the_command_without_a_command_loads_nothing_heavy(arguments: str) -> None:
    loaded = loaded_by(
        "import sys, askfew.cli\n"
        f"sys.argv = ['askfew', {arguments!r}]\n"
        "try: askfew.cli.main()\n"
        "except SystemExit as end: assert not end.code"
    )
    assert "askfew.cli.commands" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_importing_askfew_loads_nothing_heavy() -> None:
    assert loaded_by("import askfew").isdisjoint(HEAVY)


def test_sorting_items_needs_no_database_and_no_solver() -> None:
    loaded = loaded_by("from askfew import cluster, oracles")
    assert "numpy" in loaded
    assert loaded.isdisjoint({"alembic", "joblib", "scipy", "sqlalchemy"})


@pytest.mark.parametrize("name", askfew.__all__)
def test_every_name_of_the_front_door_is_there(name: str) -> None:
    assert getattr(askfew, name) is not None
    assert name in dir(askfew)


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'clutser'"):
        getattr(askfew, "clutser")  # noqa: B009


ABSENT = [*HEAVY, "jinja2", "openai", "sklearn"]
"""None in sys.modules is as good as not installed. (``make test-bare`` installs the bare wheel.)"""
CORE = ["joblib", "numpy", "scipy"]


def test_without_extras_a_command_of_campaigns_names_theirs_and_others_load() -> None:
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.modules.update(dict.fromkeys(set({ABSENT}) - set({CORE})))\n"
            "from askfew.cli.commands import COMMANDS\n"
            "for name, command in COMMANDS.items():\n"
            "    try: command.load(); print(name, 'loads')\n"
            "    except ImportError as error: print(name, error)\n",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    ).stdout
    found = dict(line.split(" ", 1) for line in said.splitlines())
    alone = {"demo", "simulate", "bench", "paper", "plan", "calibrate", "bounds"}
    assert {name for name, what in found.items() if what == "loads"} == alone
    for name in found.keys() - alone:
        assert "pip install 'askfew[campaigns]'" in found[name], name
