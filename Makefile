# Every target sets up what it needs first; nothing is fetched again once it is there.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup report test test-long bench lint schemas serve lock clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/installed  ## The environment, from the lock file with hashes

.venv/installed: requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "atr needs Python 3.11 or newer; name one with make PYTHON=…" >&2; exit 1; }
	@echo "Installing into .venv: some minutes the first time …"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m atr.measures.compile
	@touch $@

report: setup  ## The report of the bundled COMPAS programme for 2013
	@bash .ci/system-packages pango
	$(BIN)/python -P -m atr.flows publish examples/compas --period 2013

test: setup  ## The tests, in a real browser and against a real server too
	@bash .ci/system-packages pango chromium
	@bash .ci/system-packages postgresql mariadb || echo "The tests of these databases are left out." >&2
	$(BIN)/pytest -n 2 --dist loadgroup -m "not long"

test-long: setup  ## What takes longer: fuzzing, many documents, further servers, and many examples of every property
	@bash .ci/system-packages pango chromium
	$(BIN)/pytest -n 2 --dist loadgroup -m "long or hypothesis" --hypothesis-profile=long

bench: setup  ## Times and memory of the mechanism: benchmarks/results.md, some twenty minutes
	$(BIN)/python -m benchmarks

lint: setup  ## Style, types and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

schemas: setup  ## Renew docs/*.schema.json
	$(BIN)/python -m atr.schemas docs

serve: setup  ## A local Prefect server with the deployments, and a worker (127.0.0.1 only)
	$(BIN)/atr serve

lock: setup  ## Renew the lock files (needs uv)
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean:  ## Remove the environment and caches, but no store and no site
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
