# Everything a newcomer or CI needs; each target installs what it needs and is cheap to run again.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check platforms docs bench mutants format audit lock install-locked dist size clean

$(VENV)/.package: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing likewise into $(VENV) (about a minute the first time)"
	@$(PIP) -e . 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import likewise'
	@touch $@

$(VENV)/.dev: $(VENV)/.package
	@echo "installing torch and the tools for tests"
	@$(PIP) torch==$$(sed -n 's/^torch==//p' constraints.txt) 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(PIP) -e '.[dev]' 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import pytest, hypothesis, mypy'
	@touch $@

demo: $(VENV)/.package
	$(BIN)/likewise demo

check: $(VENV)/.dev
	$(BIN)/ruff format --check src tests examples benchmarks research docs/site_tools
	$(BIN)/ruff check src tests examples benchmarks research docs/site_tools
	$(BIN)/mypy
	$(BIN)/lint-imports

# The page is tested in a real browser; where none can be installed its tests skip, saying so.
CHROMIUM := /usr/bin/chromium
$(CHROMIUM):
	@echo "installing Debian's Chromium for the tests of the page"
	@{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
	  || echo "Chromium could not be installed (no apt, or no rights); the tests of the page will be skipped"

test: check | $(CHROMIUM)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup  # threads of one worker would only wait for the other

$(VENV)/.docs: $(VENV)/.package
	@echo "installing the tools for the documentation"
	@$(PIP) -e '.[docs]' 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import mkdocs, mkdocstrings'
	@touch $@

# Types as macOS and Windows have them; the tests on these systems are in .github/workflows.
platforms: $(VENV)/.dev
	$(BIN)/mypy --platform darwin src
	$(BIN)/mypy --platform win32 src

# The site is build/site/index.html; it works without a server and loads nothing from elsewhere.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.speed

# Mutation testing of one package: which changes of the code do its tests not notice?
MODULE ?= src/likewise/metrics
TESTS  ?= $(patsubst src/likewise/%,tests/%,$(patsubst src/likewise_bench/%,tests/likewise_bench/%,$(MODULE)))
mutants: $(VENV)/.dev
	BIN=$(abspath $(BIN)) nice -n 10 sh benchmarks/mutants.sh $(MODULE) $(TESTS)

$(VENV)/.audit: $(VENV)/.package
	@echo "installing the tools for the audit"
	@$(PIP) pip-audit pip-tools 2>&1 | { grep -v '^WARNING: Location' || true; }
	@$(BIN)/python -c 'import pip_audit, piptools'
	@touch $@

# Known vulnerabilities of the pinned versions, and the checksums of the installed weights.
audit: $(VENV)/.audit
	$(BIN)/python .ci/audit.py constraints.txt

# Versions and SHA-256 of everything that a plain `pip install likewise` brings (no torch).
lock: $(VENV)/.audit
	$(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
	  --strip-extras --constraint constraints.txt --output-file requirements.lock pyproject.toml

# The default installation with every download checked against requirements.lock.
install-locked:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .

# Wheel and source archive in dist/, with their metadata checked.
dist: $(VENV)/.package
	@$(PIP) build setuptools twine 2>&1 | { grep -v "^WARNING: Location" || true; }
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# Size of a plain installation of the wheel, without pip.
size: dist
	@rm -rf build/size && $(PYTHON) -m venv --without-pip build/size
	@$(BIN)/python -m pip --python build/size/bin/python install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl 2>&1 | { grep -v '^WARNING: Location' || true; }
	@du -sm build/size | awk '{print $$1 " MB installed"}'

format: $(VENV)/.dev
	$(BIN)/ruff format src tests examples benchmarks research docs/site_tools
	$(BIN)/ruff check --fix src tests examples benchmarks research docs/site_tools

clean:
	rm -rf $(VENV) build dist src/*.egg-info
