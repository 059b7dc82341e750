# `make run` builds, verifies and publishes ai.onnx.Scan; `make test` runs every check. Both set up what they need
# first, in .venv and node_modules, and do so only once: the stamp files below remember it.

PYTHON ?= python3
SOURCE ?= templates/ai.onnx.Scan
PYTEST_FLAGS ?= -n auto --dist loadfile

BIN := .venv/bin
SETUP := $(PYTHON) tools/setup.py
READY := .venv/.ready-run
TEST_READY := .venv/.ready-test
NODE_READY := node_modules/.ready
ADAPTER := .venv/.ready-adapter
BROWSER := .venv/.ready-browser

.PHONY: help run test test-long bench-planner bench-verify bench-lower lint format docs picture swiftshader wheel clean

help:
	@echo "make run          set up, then render, verify and publish $(SOURCE)"
	@echo "make test         set up, then lint and run the test suite"
	@echo "make test-long    the tests that take minutes"
	@echo "make bench-planner  how long loading, checking and planning take"
	@echo "make bench-verify   how long verify takes for 500 tiny cases"
	@echo "make bench-lower  how long lowering a model takes"
	@echo "make lint         ruff and mypy"
	@echo "make format       let ruff rewrite the Python files"
	@echo "make docs         write docs/commands/ from the help of the commands"
	@echo "make picture      draw docs/picture.svg from a run of the commands"
	@echo "make swiftshader  add a second WebGPU engine for the tests (Dawn on SwiftShader)"
	@echo "make wheel        build the wheel into build/wheel"
	@echo "make clean        remove what was built and set up"

run: $(READY) $(ADAPTER)
	$(BIN)/scanbuild render $(SOURCE)
	$(BIN)/scanbuild verify
	$(BIN)/scanbuild publish

test: lint $(NODE_READY) $(ADAPTER) $(BROWSER)
	$(BIN)/pytest $(PYTEST_FLAGS)

test-long: $(TEST_READY) $(NODE_READY) $(ADAPTER) $(BROWSER)
	$(BIN)/pytest -m long $(PYTEST_FLAGS)

bench-planner: $(READY)
	$(BIN)/python tools/bench_planner.py

bench-verify: $(READY) $(ADAPTER)
	$(BIN)/python tools/bench_verify.py

bench-lower: $(TEST_READY)
	$(BIN)/python tools/bench_lower.py

lint: $(TEST_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(TEST_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	$(BIN)/python tools/command_pages.py

picture: $(READY) $(ADAPTER)
	$(BIN)/python tools/picture.py

swiftshader: $(TEST_READY)
	$(SETUP) swiftshader

wheel: $(READY)
	$(BIN)/python tools/wheel.py build/wheel

clean:
	rm -rf .venv node_modules build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): pyproject.toml tools/setup.py
	$(SETUP) venv
	@touch $@

$(TEST_READY): pyproject.toml tools/setup.py
	$(SETUP) venv test
	@touch $(READY) $@

# Whichever of the two came first, the adapter is looked for with the wgpu that it installed.
$(ADAPTER): | $(if $(filter test test-long lint,$(MAKECMDGOALS)),$(TEST_READY),$(READY))
	$(SETUP) adapter
	@touch $@

# Not touched where there is none, so that it is looked for again and what to install is said again.
$(BROWSER): | $(TEST_READY)
	$(SETUP) browser && touch $@ || true

$(NODE_READY): package.json package-lock.json $(TEST_READY)
	$(SETUP) node
	@touch $@
