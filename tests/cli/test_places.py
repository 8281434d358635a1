"""What cannot be written is said before anything is simulated."""

from pathlib import Path

import pytest

from commands import command

PLACES = {
    "nowhere/a.png": "nowhere/a.png: a file must be writable here, got no such folder",
    "a.xyz": "a picture's name must end with one of .png, .svg, .pdf, got 'a.xyz'",
    "folder.svg": "folder.svg: a file must be writable here, got a folder",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "drawing", [("demo", "--picture"), ("plan", "--figure"), ("calibrate", "--figure")]
)
def test_a_picture_is_refused_where_none_can_be(
    drawing: tuple[str, str],
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "folder.svg").mkdir()
    code, out, err = command(tmp_path, monkeypatch, capfd)(*drawing, place)
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {PLACES[place]}")


def test_so_is_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(tmp_path, monkeypatch, capfd)("bench", "--csv", "nowhere/a.csv")
    assert (code, out) == (2, "")
    assert "nowhere/a.csv: a file must be writable here, got no such folder" in err
