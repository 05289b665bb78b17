# make run    everything the dashboard needs, then the dashboard on http://localhost:8501
# make test   the same for the tests, then all of them
# Steps already done are not done again; `make clean` forgets them.

PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
# What is installed is locked: these files with these hashes, and nothing that they might ask for besides.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes
# Where PyTorch, and nothing else, comes from: https://download.pytorch.org/whl/cpu has it without CUDA, gigabytes less.
# By default from a folder that pip is set up to look in (find-links), where it has one with PyTorch, and else from PyPI.
TORCH_INDEX ?=
CACHE := $(or $(RELENS_CACHE),$(HOME)/.cache/relens)

.PHONY: help run lock setup setup-dev package wheel model graphviz chromium tini test docs check unit-tests heavy-tests all-but-browser-tests thorough-tests model-tests browser-tests attack-tests quick-attack-tests benchmarks format clean

help:
	@sed -n '1,3s/^# //p' Makefile

run: package model graphviz
	@$(BIN)/relens run --port $(PORT)

# --- what is installed -----------------------------------------------------------------------------------

setup: $(VENV)/installed
package: $(VENV)/package
setup-dev: $(VENV)/installed-dev package

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Relens needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/created locks/torch.txt locks/cuda.txt locks/run.txt
	@echo "Installing the dependencies (a few minutes, once)"
	@$(if $(TORCH_INDEX),$(INSTALL) --index-url $(TORCH_INDEX) -r locks/torch.txt,\
	   $(INSTALL) --no-index -r locks/torch.txt 2>/dev/null || $(INSTALL) -r locks/torch.txt)
	@$(INSTALL) -r locks/run.txt
	@! $(BIN)/pip show torch | grep -q '^Requires:.*cuda' || $(INSTALL) -r locks/cuda.txt
	@touch $@

# `import relens` and the command `relens`, of the files in this folder.
$(VENV)/package: $(VENV)/installed pyproject.toml
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed locks/test.txt
	@$(INSTALL) -r locks/test.txt
	@touch $@

# After a change of a requirements file; `make lock UPGRADE=1` moves everything to the newest that fits.
lock: setup-dev
	@$(BIN)/python locks/make_locks.py $(if $(UPGRADE),--upgrade)

# The embedded model, converted once from GGUF to safetensors.
model: package
	@$(BIN)/python -m relens.models.embedded

# Debian packages are installed where this user may; elsewhere a sentence says what is missing.
# $(call debian_package,command,package,what happens without it)
define debian_package
@command -v $(1) >/dev/null 2>&1 \
  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing $(2)" && apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2) >/dev/null; } \
  || { command -v sudo >/dev/null && sudo -n true 2>/dev/null && sudo apt-get update -qq >/dev/null && sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(2) >/dev/null; } \
  || { echo "$(3)"; }
endef

graphviz:
	$(call debian_package,dot,graphviz,There is no graphviz on this machine (apt install graphviz): the browser will lay out the automata instead.)

chromium:
	$(call debian_package,$(or $(RELENS_CHROMIUM),chromium),chromium fonts-dejavu-core,There is no Chromium on this machine (apt install chromium; or set RELENS_CHROMIUM): the browser tests will fail.)

tini:
	$(call debian_package,tini,tini,There is no tini on this machine (apt install tini): the test of the container's process 1 is skipped.)

# --- what is tested --------------------------------------------------------------------------------------

# One worker on each core; a worker without work takes some of another's.
SIDE_BY_SIDE := -n logical --dist worksteal --durations 10 --durations-min 1

test: check docs all-but-browser-tests quick-attack-tests browser-tests

check: setup-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

unit-tests: setup-dev graphviz
	@$(BIN)/pytest $(SIDE_BY_SIDE)

# Properties over many examples, searches in models, and processes of their own.
heavy-tests: setup-dev graphviz
	@$(BIN)/pytest -m "heavy and not model" $(SIDE_BY_SIDE)

# Unit, heavy and model tests at once, which is sooner than one after the other; without the slow ones.
all-but-browser-tests: setup-dev model graphviz
	@$(BIN)/pytest -m "not browser and not attack and not slow" $(SIDE_BY_SIDE)

# The same with all examples of each property.
thorough-tests: setup-dev model graphviz
	@RELENS_THOROUGH=1 $(BIN)/pytest -m "not browser and not attack" $(SIDE_BY_SIDE)

model-tests: setup-dev model
	@$(BIN)/pytest -m model -n logical --dist worksteal

browser-tests: setup-dev model graphviz chromium tini
	@$(BIN)/pytest -m browser -n logical --dist loadfile tests/browser tests/test_container.py

# Attacks on a dashboard that is started for them on this machine, and reached from nowhere else.
attack-tests: setup-dev model graphviz
	@$(BIN)/pytest -m attack tests/attacks

quick-attack-tests: setup-dev model graphviz
	@$(BIN)/pytest -m "attack and not slow" tests/attacks

# The documentation, as pages in site/; a dead link or a name that is not there ends it.
docs: setup-dev model graphviz
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# --- other -----------------------------------------------------------------------------------------------

benchmarks: setup-dev model
	@for script in compile bookkeeping shortest_path sampling extraction interface pages; do $(BIN)/python -m benchmarks.$$script; done

# dist/relens-*.whl, and the archive of the source.
wheel: setup-dev
	@$(BIN)/uv build --quiet --no-build-isolation --out-dir dist

format: setup-dev
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

clean:
	rm -rf $(VENV)
