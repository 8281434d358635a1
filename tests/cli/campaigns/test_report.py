from pathlib import Path

from typer.testing import CliRunner

from askfew.campaigns.folder.template import write_template
from askfew.cli import app


def test_report_writes_a_page_and_creates_no_store_by_mistake(tmp_path: Path) -> None:
    write_template(tmp_path / "birds")
    store = f"sqlite:///{tmp_path}/askfew.db"
    runner = CliRunner()
    made = runner.invoke(app, ["create", str(tmp_path / "birds"), "--store", store])
    assert made.exit_code == 0, made.output
    page = tmp_path / "birds [b].html"  # which looks like markup, and is none
    written = runner.invoke(app, ["report", "birds", "--store", store, "--out", str(page)])
    assert written.exit_code == 0, written.output
    assert page.name in written.output
    assert "No certificate yet" in page.read_text()
    elsewhere = f"sqlite:///{tmp_path}/other.db"
    assert runner.invoke(app, ["report", "birds", "--store", elsewhere]).exit_code != 0
    assert not (tmp_path / "other.db").exists()
