"""The README's code and the examples run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_s_ten_lines_of_python(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    printed = run("-c", "\n".join(blocks), cwd=tmp_path)  # the second goes on from the first
    assert "20 labels are right, all of them with probability at least 0.95" in printed


def test_a_function_of_one_s_own(tmp_path: Path) -> None:
    printed = run(str(ROOT / "examples" / "own_function.py"), cwd=tmp_path)
    assert "['otter', 'heron', 'badger', 'newt', 'vole']" in printed


def test_ask_and_tell_goes_on_after_a_stop(tmp_path: Path) -> None:
    script = str(ROOT / "examples" / "ask_and_tell.py")
    first = run(script, cwd=tmp_path)
    assert "groups of 6 and 6 items" in first
    again = run(script, cwd=tmp_path)
    assert again == first
