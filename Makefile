# The two commands: `make start` shows Sayso at work, `make test` proves that it works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev-ready
PROGRAMS := $(VENV)/.programs-ready
TOOLS := $(VENV)/.tools-ready
OLD := import sys; sys.exit(sys.version_info < (3, 11) and "Sayso needs Python 3.11 or newer. If you have one, name it: make start PYTHON=python3.11")
# Most tests wait for processes more than they compute, so there are more at work than there are cores. With six, two
# cores are never idle, and what people and programs do is too slow for tests that wait as long as a person would.
WORKERS ?= 5

.DEFAULT_GOAL := start
.PHONY: start quick test tests lint types compiled test-clients test-claude check bench promises proof fuzz mutants race lock clean

# `make start` needs what a user needs, and nothing else.
$(READY): locks/sayso.txt pyproject.toml scripts/set_up.py
	@$(PYTHON) -c '$(OLD)'
	@$(PYTHON) scripts/set_up.py locks/sayso.txt
	@touch $(READY)

# All of that is in the lock for development as well. It is long, and uv takes a quarter of pip's time for it.
$(DEV): locks/uv.txt locks/dev.txt pyproject.toml scripts/set_up.py
	@$(PYTHON) -c '$(OLD)'
	@$(PYTHON) scripts/set_up.py locks/uv.txt
	@$(PYTHON) scripts/set_up.py locks/dev.txt
	@touch $(READY) $(DEV)

# What only the tests need: a terminal multiplexer, shells and a browser of the system's, which can come before all packages,
$(PROGRAMS): scripts/install_browser.py scripts/install_terminal_programs.py
	@$(PYTHON) scripts/install_terminal_programs.py
	@$(PYTHON) scripts/install_browser.py --of-the-system
	@mkdir -p $(VENV)
	@touch $(PROGRAMS)

# other MCP clients, and a browser where the system has none.
$(TOOLS): $(DEV) $(PROGRAMS) tests/e2e/clients/install.py
	@$(BIN)/python -m tests.e2e.clients.install
	@$(BIN)/python scripts/install_browser.py
	@touch $(TOOLS)

start: $(READY)
	@$(BIN)/sayso demo --web

check: lint types

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python scripts/declared.py

types: $(DEV)
	$(BIN)/mypy

# While one works: seconds instead of minutes, and no process, browser or database but what a few tests start.
QUICK := tests/protocol tests/dialects tests/toolfiles tests/install tests/test_config.py tests/test_documents.py tests/test_text.py
quick: check
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -n 2 $(QUICK)

# Real processes on a busy machine: some tests that fail are tried again, twice at most, named at the end, and more than
# two fail the run (tests/reruns.py).
# Files are handed out in the order of tests/conftest.py, longest first. Each worker reads every test, so they are
# compiled once before, while the quick checks run and the tools are set up. Types take a minute of one processor: they
# are checked as soon as that can be, and beside the tests.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest
test:
	@$(MAKE) --no-print-directory --jobs 4 types tests

tests: lint compiled $(TOOLS)
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder --reruns 2

# All of it, or a process that a test gives a full disk would compile a part of a module, and break it for all others.
compiled: $(DEV)
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q -x '/test_[^/]*$$' src tests bench
	@$(PYTEST) --collect-only --quiet > /dev/null || true

# Not part of `test`: the real programs of agents' clients from npm are close to a gigabyte.
test-clients: $(DEV)
	$(BIN)/pytest tests/e2e/programs/real_clients.py tests/e2e/programs/real_gate.py tests/e2e/programs/real_gate_kills.py \
	  tests/e2e/programs/real_codex_gate.py tests/e2e/programs/real_other_gates.py \
	  tests/e2e/programs/real_permissions.py tests/e2e/programs/real_takeover.py tests/e2e/programs/real_sign_in.py tests/e2e/programs/real_pictures.py \
	  tests/e2e/programs/guarded_server.py tests/e2e/talk/real_acp.py --timeout 1800 --numprocesses 6

# The real Claude Code, Codex and Gemini in Talk, with scripted models on loopback.
test-claude: $(TOOLS)
	$(BIN)/pytest tests/e2e/talk/real_claude.py tests/e2e/talk/real_codex.py tests/e2e/talk/real_table.py \
	  --timeout 1800

# Prints every table and writes them into docs/performance.md. Installs other MCP servers into a throw-away folder.
# Fails when a promise about speed is broken.
bench: $(DEV)
	$(BIN)/python -m bench.report
	$(BIN)/python -m bench.promises

# The promises alone: a minute or two.
promises: $(DEV)
	$(BIN)/python -m bench.promises

# Agents ask, people answer, commands run, while processes are killed, disks fill and clocks jump; an audit after every
# epoch. `make proof SECONDS=60 SEED=7` makes the same choices again, `make proof ASKS=200000 KILLS=2000` goes on until
# there were so many; STORE=postgres restarts the store as well. RESUME=FOLDER goes on with an earlier one, and PUBLISH=1
# puts the score into docs/reliability.md.
SECONDS ?= 300
STORE ?= sqlite
proof: $(DEV)
	$(BIN)/python -m tests.proof --store $(STORE) $(if $(ASKS),--asks $(ASKS),--seconds $(SECONDS)) $(if $(KILLS),--kills $(KILLS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(FOLDER),--folder $(FOLDER)) $(if $(RESUME),--resume $(RESUME)) $(if $(PUBLISH),--publish)

# Junk for the stdio server, its front and the web server.
fuzz: $(DEV)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# Makes one small thing of the code wrong at a time, and sees whether a test fails. `make mutants SAMPLE=100 SEED=7
# PACKAGES=asks` takes fewer of them.
SAMPLE ?= 400
PACKAGES ?= asks permissions store operations
mutants: $(DEV)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m tests.mutants --sample $(SAMPLE) --packages $(PACKAGES) $(if $(SEED),--seed $(SEED))

# A thousand permissions while verdicts, withdrawals, limits and kill -9 cross; then an audit of what really ran.
ACTIONS ?= 1000
race: $(DEV)
	SAYSO_RACE_ACTIONS=$(ACTIONS) $(if $(SEED),SAYSO_RACE_SEED=$(SEED)) $(BIN)/pytest tests/e2e/run/test_race.py -q -s --reruns 0 --timeout 600

# Writes the lock files again after a change of dependencies. `make lock ARGS=--upgrade` takes the newest that fit.
lock: $(DEV)
	$(BIN)/python scripts/lock.py $(ARGS)

clean:
	rm -rf $(VENV) .cache dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
