# From nothing to results: needs only make and a Python 3.11 or newer with venv.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist loadfile
DEMO_ARGS ?= --budget 2000 --budget 5000 --budget 10000 --runs 2000 --workers 2 --out results/demo

# Environments of another Python than the usual one bear its version: to switch does not reuse those of the first.
VERSION = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
SUFFIX := $(if $(filter-out python3,$(PYTHON)),-$(VERSION))
DEMO := .venv$(SUFFIX)
TEST := .venv-test$(SUFFIX)
LOWEST := .venv-lowest$(SUFFIX)
SETTINGS := pyproject.toml constraints.txt setup.py
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# Tests start many processes, which all read the same modules: they are compiled once, whatever the surroundings say.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-lowest test-kernels lint speed docs figure leaderboard catalogue format release clean

help:  ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

demo: $(DEMO)/ready  ## compare seven agents on BAI-Gaussian64-v0; results in results/demo
	$(DEMO)/$(BIN)/bai-gym run BAI-Gaussian64-v0 --agent Uniform --agent SH-Reuse --agent SHVar-Reuse --agent SHAdaVar-Reuse \
		--agent GapE --agent GapE-V --agent VBR $(DEMO_ARGS)

# One thread each: the test processes have the cores to themselves. A file goes to one process, and so makes its fixtures
# once.
test: $(TEST)/ready  ## run the fast tests; PYTEST_ARGS="-k gaussian" runs some
	OMP_NUM_THREADS=1 $(TEST)/$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

test-all: $(TEST)/ready  ## run all tests: statistics at full size, clusters, browser, notebooks, pages too
	OMP_NUM_THREADS=1 $(TEST)/$(BIN)/python -m pytest $(PYTEST_ARGS)

# NumPy and SciPy take one of several kernels of OpenBLAS, by the processor, and each rounds differently. `make test` plays
# the one that is taken here.
KERNEL_TESTS := $(wildcard $(foreach wing,linear correlated,tests/$(wing) tests/*/$(wing))) tests/agents/bayesian/test_rue.py
test-kernels: $(TEST)/ready  ## run the tests of linear algebra with every other kernel that this processor can run
	@kernels=$$($(TEST)/$(BIN)/python .ci/kernels.py) || exit; \
	for kernel in $$kernels; do \
		echo "OPENBLAS_CORETYPE=$$kernel"; \
		OPENBLAS_CORETYPE=$$kernel OMP_NUM_THREADS=1 $(TEST)/$(BIN)/python -m pytest -q -m "not slow" $(PYTEST_ARGS) \
			$(KERNEL_TESTS) || exit; \
	done

# Old versions warn of what newer ones have mended, or use what is deprecated by now: here warnings are no errors.
test-lowest: $(LOWEST)/ready  ## run the fast tests with the lowest versions that pyproject.toml allows
	OMP_NUM_THREADS=1 $(LOWEST)/$(BIN)/python -m pytest -m "not slow" -W default --disable-warnings $(PYTEST_ARGS)

lint: $(TEST)/ready  ## check style, format and types
	$(TEST)/$(BIN)/ruff check
	$(TEST)/$(BIN)/ruff format --check
	$(TEST)/$(BIN)/mypy

speed: $(TEST)/ready  ## compare speeds with the commit in benchmarks/speed.toml; SPEED_ARGS=--short takes two minutes
	$(TEST)/$(BIN)/python benchmarks/speed.py $(SPEED_ARGS)

docs: $(TEST)/ready  ## build the documentation into site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(TEST)/$(BIN)/mkdocs build --strict --quiet

figure: demo  ## draw the figure of README again
	cp results/demo/figure.png docs/images/demo.png

leaderboard: $(DEMO)/ready  ## play all submissions in leaderboard/ again; the page is results/leaderboard/leaderboard.html
	$(DEMO)/$(BIN)/bai-gym leaderboard run $(LEADERBOARD_ARGS)

catalogue: $(TEST)/ready  ## store what `bai-gym list` says about agents and experiments
	$(TEST)/$(BIN)/python -m bai_gym.cli.catalogue

format: $(TEST)/ready  ## write the format, and repair what can be repaired
	$(TEST)/$(BIN)/ruff check --fix-only
	$(TEST)/$(BIN)/ruff format

# Each distribution is installed and tried by itself, outside the checkout, which would else be what is imported.
release: $(TEST)/ready  ## build sdist and wheel into dist/, check them, and try each in a fresh environment
	rm -rf build dist
	$(TEST)/$(BIN)/python -m build
	$(TEST)/$(BIN)/twine check --strict dist/*
	$(TEST)/$(BIN)/check-wheel-contents dist/*.whl
	@for distribution in dist/*; do .ci/smoke "$(PYTHON)" "$$distribution" || exit; done

clean:  ## remove what was built or installed here; results stay
	rm -rf .venv .venv-* build dist site *.egg-info .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A new virtual environment; $(1) is its folder.
define venv
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "make: Python 3.11 or newer is needed; name one, for example: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
@$(PYTHON) -m venv --clear $(1) || \
	{ echo "make: '$(PYTHON) -m venv' does not work here; install it (Debian and Ubuntu: python3-venv) or set PYTHON" >&2; exit 1; }
endef

$(DEMO)/ready: $(SETTINGS)
	$(call venv,$(DEMO))
	$(DEMO)/$(PIP) -c constraints.txt -e ".[plots]"
	@touch $@

# Torch comes first and alone: where it has no wheel for this Python, stable-baselines3 and its checks are left out.
$(TEST)/ready: $(SETTINGS)
	$(call venv,$(TEST))
	@if $(TEST)/$(PIP) -c constraints.txt torch; then extras=all,docs,minari,release,test; \
	else extras=docs,minari,plots,release,render,sql,test; \
		echo "make: torch cannot be installed here; the checks of stable-baselines3 will be skipped" >&2; fi; \
	echo "$(TEST)/$(PIP) -c constraints.txt -e .[$$extras]"; \
	$(TEST)/$(PIP) -c constraints.txt -e ".[$$extras]"
	@touch $@

# Tools keep their versions: it is the library that is tested.
$(LOWEST)/ready: $(SETTINGS) .ci/lowest.py
	$(call venv,$(LOWEST))
	$(LOWEST)/$(BIN)/python .ci/lowest.py >$(LOWEST)/constraints.txt
	$(LOWEST)/$(PIP) -c $(LOWEST)/constraints.txt -e ".[all,docs,test]"
	@touch $@
