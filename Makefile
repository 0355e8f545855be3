# Everything a newcomer or CI needs; each target installs what it needs and is cheap to run again.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check bench format clean

$(VENV)/.package: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing likewise into $(VENV) (about two minutes the first time)"
	@$(PIP) torch==$$(sed -n 's/^torch==//p' constraints.txt) 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(PIP) -e . 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import likewise'
	@touch $@

$(VENV)/.dev: $(VENV)/.package
	@echo "installing the tools for tests"
	@$(PIP) -e '.[dev]' 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import pytest, hypothesis, mypy'
	@touch $@

demo: $(VENV)/.package
	$(BIN)/likewise demo

check: $(VENV)/.dev
	$(BIN)/ruff format --check src tests examples
	$(BIN)/ruff check src tests examples
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest -n 2 --dist loadgroup

bench: $(VENV)/.dev
	$(BIN)/python -m likewise.benchmark.speed

format: $(VENV)/.dev
	$(BIN)/ruff format src tests examples
	$(BIN)/ruff check --fix src tests examples

clean:
	rm -rf $(VENV) build dist src/*.egg-info
