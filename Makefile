# The two commands: `make start` shows Sayso at work, `make test` proves that it works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools-ready
WORKERS ?= 2

.PHONY: start test check bench clean

$(READY): pyproject.toml
	@echo "Setting up $(VENV) (once)..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sayso needs Python 3.11 or newer: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable '.[postgres]' --group dev
	@touch $(READY)

# What only the tests need: other MCP clients, a browser, a terminal multiplexer.
$(TOOLS): $(READY) tests/e2e/clients/install.py scripts/install_browser.py scripts/install_tmux.py
	@echo "Setting up what the tests drive (once)..."
	@$(BIN)/python -m tests.e2e.clients.install
	@$(BIN)/python scripts/install_tmux.py
	@$(BIN)/python scripts/install_browser.py
	@touch $(TOOLS)

start: $(READY)
	@$(BIN)/sayso demo

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Real processes on a busy machine: a test that fails is tried again, twice at most, and counted as rerun.
test: check $(TOOLS)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --reruns 2

bench: $(READY)
	$(BIN)/python bench/latency.py

clean:
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
