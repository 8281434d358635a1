# Two commands on a fresh machine: make demo, make test. Both need only make, Python 3.11+ and the package registry.
PYTHON ?= python3
BIN := .venv/bin

# Tests start many programs, and each would compile askfew again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-bare test-lowest docs lint format system-packages
demo: .venv/installed
	$(BIN)/askfew demo

test: lint system-packages
	$(BIN)/pytest -q

test-bare:
	scripts/test-bare

test-lowest:
	scripts/test-lowest

# Warnings are errors; no network is used. Open docs/_build/html/index.html.
docs: .venv/installed
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

system-packages:
	@scripts/system-packages

lint: .venv/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/installed
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $@
