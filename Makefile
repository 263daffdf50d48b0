# Three commands do everything: `make app`, `make lab` and `make test`.
PORT ?= 8501
LAB_PORT ?= 8888
PYTHON ?= python3
BIN := .venv/bin
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: app lab test quick setup bench trials check clean notebooks api picture tables maps federation-demo

app: .venv/app
	$(BIN)/streamlit run app.py --server.address 127.0.0.1 --server.port $(PORT) --server.headless true

# Jupyter goes on to the next free port and prints the address; its token keeps others out
lab: .venv/lab
	$(BIN)/jupyter lab notebooks --ip 127.0.0.1 --port $(LAB_PORT) $(AS_ROOT)

test: setup check
	$(BIN)/python -m pytest -n 2 --dist loadfile

# without a browser, Flower, notebooks and what takes long; the end says how many are left out
quick: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not (browser or flower or notebook or slow)"

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

setup: .venv/dev
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium for the browser tests"; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	fi

bench: .venv/dev
	$(BIN)/python -m benchmarks.speed

# every trial of docs/reliability.md, run anew; takes up to an hour and writes its table
trials: setup
	$(BIN)/python -m benchmarks.trials

notebooks: .venv/dev
	$(BIN)/python -m notebooks.build

api: .venv/dev
	$(BIN)/python -m docs.build

# README's picture, taken anew from the app
picture: setup
	$(BIN)/python -m docs.picture

# the stored tables that ship with the package, measured anew; the last two go on where they stopped
tables: .venv/dev
	$(BIN)/python -m spear_core paper --out spear_core/paper/measured.csv
	$(BIN)/python -m spear_core.studies.defence_table --out spear_core/studies/attacks.csv
	$(BIN)/python -m spear_core.studies.lance_table --out build/lance_table.csv
	$(BIN)/python -m spear_core.studies.beyond --out build/beyond.csv
	mv build/lance_table.csv build/beyond.csv spear_core/studies

# the maps of the built-in graphs that ship with the package, fitted anew
maps: .venv/dev
	$(BIN)/python -m spear_core.embed --out spear_core/embed/shipped

federation-demo: .venv/dev
	$(BIN)/python -m spear_core federation-demo

# .venv/app, .venv/lab and .venv/dev are stamps: they are newer than the files they were installed from
.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; say PYTHON=python3.11")'
	$(PYTHON) -m venv .venv

.venv/app: .venv/bin/python requirements.txt dependencies.txt constraints.txt
	$(BIN)/python -m pip install --quiet -r requirements.txt
	touch $@

.venv/lab: .venv/app requirements-notebook.txt dependencies-notebook.txt
	$(BIN)/python -m pip install --quiet -r requirements-notebook.txt
	touch $@

.venv/dev: .venv/lab requirements-dev.txt requirements-federation.txt dependencies-federation.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	$(BIN)/python -m pip check
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache build *.egg-info
