# The GPU Moat: what to type. `make` alone explains the targets.
#
# The environment is .venv in this checkout. It is made with uv when uv is on the PATH, else with Python's own venv
# and pip. Stamps in it say what is installed: a second run installs nothing and works offline; a changed
# requirements file or pyproject.toml installs again. Written for GNU make 3.81 and newer, which macOS still has.

# Settings, each of which can be given on the command line:
#   make test PYTHON=/opt/python3.12/bin/python3   the Python to make .venv from (3.11, 3.12 or 3.13)
#   make test UV=                                  do not use uv
#   make test NPM=                                 do not use npm; the MicroPython check is skipped
#   make requirements UPGRADE=1                    newest versions instead of the locked ones
SHELL := /bin/sh
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
ifeq ($(origin PYTHON),undefined)
  PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11; do \
    $$p -c '$(SUPPORTED)' >/dev/null 2>&1 && { echo $$p; exit; }; done; echo python3)
endif
ifeq ($(origin UV),undefined)
  UV := $(shell command -v uv 2>/dev/null)
endif
ifeq ($(origin NPM),undefined)
  NPM := $(shell command -v npm 2>/dev/null)
endif

BIN := .venv/bin
MICROPYTHON := tests/micropython

# Nothing asks the network except an installation.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1
export npm_config_update_notifier := false

# A virtual environment holds its own path. One whose checkout was moved or copied, or whose Python is gone, is made
# again: its first stamp then depends on a target that is never up to date.
STALE := $(shell test -x $(BIN)/python && test "$$(cat .venv/.made-in 2>/dev/null)" = "$$(pwd -P)" || echo FORCE)

.DEFAULT_GOAL := help
.PHONY: help site build test check lock requirements clean clean-all micropython FORCE
.DELETE_ON_ERROR:

help: ## explain the targets (this text)
	@echo 'The GPU Moat. Targets:'
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

site: build ## install what is needed, build the site and serve it on this machine
	@"$(BIN)/gpumoat" serve

build: .venv/.site ## install what is needed and build the site into site/
	@"$(BIN)/gpumoat" build

test: .venv/.test micropython ## install what is needed and run all tests
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/pytest" -n 2

check: .venv/.site ## check sources, facts, claims, prose and the built site
	@"$(BIN)/gpumoat" check

lock: .venv/.site ## write docs/numbers.lock anew; its diff shows which numbers changed
	@"$(BIN)/gpumoat" lock

# One file a group, with hashes and without the address of any package index; `site` follows the versions of `test`.
COMPILE = "$(UV)" pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make requirements" $(if $(UPGRADE),--upgrade)

requirements: ## lock the requirements anew (needs uv on the PATH; UPGRADE=1 for newest versions)
	@test -n "$(UV)" || { echo 'make requirements needs uv on the PATH; pip cannot lock for all systems at once.' >&2; exit 1; }
	$(COMPILE) --group test --output-file requirements/test.txt
	$(COMPILE) --group site --constraint requirements/test.txt --output-file requirements/site.txt

clean: ## remove what was built: the site and all caches
	rm -rf site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

clean-all: clean ## remove the environment as well; the next run installs everything anew
	rm -rf .venv "$(MICROPYTHON)/node_modules"

# From here on: how the environment comes to be.

.venv/.made-in: $(STALE)
	@if [ -z "$(UV)" ]; then \
	  "$(PYTHON)" -c 'import sys' 2>/dev/null \
	    || { echo 'The GPU Moat needs Python 3.11, 3.12 or 3.13; $(PYTHON) does not run. Name one: make test PYTHON=/path/to/python3.12' >&2; exit 1; }; \
	  "$(PYTHON)" -c '$(SUPPORTED)' \
	    || { echo "The GPU Moat needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$("$(PYTHON)" -c 'import platform; print(platform.python_version())'). Name another: make test PYTHON=/path/to/python3.12" >&2; exit 1; }; \
	  "$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null \
	    || { echo '$(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv. Or install uv.' >&2; exit 1; }; \
	fi
	@if [ -f $@ ] || ! [ -x $(BIN)/python ]; then rm -rf .venv; fi
	@echo 'Making .venv'
	@if [ -n "$(UV)" ]; then \
	  if "$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null; then chosen="$(PYTHON)"; else chosen='>=3.11,<3.14'; fi; \
	  "$(UV)" venv --quiet --allow-existing --python "$$chosen" .venv; \
	else "$(PYTHON)" -m venv .venv; fi
	@pwd -P > $@

ifneq ($(UV),)
  INSTALL := "$(UV)" pip install --quiet --python $(BIN)/python
else
  INSTALL := $(BIN)/python -m pip install --quiet
endif

# The build backend is among the locked requirements, so that installing the project itself asks nobody.
.venv/.site: requirements/site.txt pyproject.toml .venv/.made-in
	@echo 'Installing requirements/site.txt (the first time takes a minute or two)'
	@$(INSTALL) --require-hashes -r requirements/site.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.test: requirements/test.txt .venv/.site
	@echo 'Installing requirements/test.txt'
	@$(INSTALL) --require-hashes -r requirements/test.txt
	@touch $@

micropython: ## install MicroPython with npm, for the check that the models run on it (part of test)
ifneq ($(NPM),)
micropython: $(MICROPYTHON)/node_modules/.installed
else
micropython:
	@echo 'No npm found: the check that the models run on MicroPython will be skipped.'
endif

$(MICROPYTHON)/node_modules/.installed: $(MICROPYTHON)/package-lock.json
	@echo 'Installing $(MICROPYTHON)/package-lock.json'
	@cd $(MICROPYTHON) && "$(NPM)" ci --silent --prefer-offline --no-audit --no-fund --ignore-scripts \
	  || { echo 'npm could not install MicroPython. To test without it: make test NPM=' >&2; exit 1; }
	@touch $@
