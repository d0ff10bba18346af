# Two commands: `make demo` shows the whole way without an account, `make test` checks everything that is fast.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test
.DEFAULT_GOAL := demo

# The stamps make a second run start at once; a changed pyproject.toml installs again.
$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . "probe-research>=0.337"
	touch $@

$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q

# Every real repository of the corpus (downloads some 250 MB once, takes minutes); corpus-accept keeps one new answer.
.PHONY: corpus corpus-accept
corpus: $(VENV)/.dev
	$(BIN)/python -m corpus.run

corpus-accept: $(VENV)/.dev
	@test -n "$(NAME)" || { echo "make corpus-accept NAME=..."; exit 2; }
	$(BIN)/python -m corpus.run --accept $(NAME)
