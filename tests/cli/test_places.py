"""What cannot be written is said before anything is simulated."""

from pathlib import Path

import pytest

from commands import Command

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
    wide: Command,
) -> None:
    Path("folder.svg").mkdir()
    code, out, err = wide(*drawing, place)
    assert (code, out) == (2, "")
    assert err.startswith(f"askfew: {PLACES[place]}")


def test_so_is_a_table(wide: Command) -> None:
    code, out, err = wide("bench", "--csv", "nowhere/a.csv")
    assert (code, out) == (2, "")
    assert "nowhere/a.csv: a file must be writable here, got no such folder" in err
