# legalqa's commands. `make` alone lists them.
#   PORT=8080 make run         another port
#   PIP_ARGS="…" make setup    options for pip; see docs/how-to/install.md
#   PYTHON=/path make setup    another interpreter
#   TEST_PROCESSES=4 make test tests in as many processes (each needs a core and 1 GB)

PY := .venv/bin/python
VAR := $(or $(LEGALQA_VAR_DIR),var)
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev run dev test test-browser demo lint stop clean constraints

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

setup: .venv/.installed ## install everything; instant when done
	@:

setup-dev: .venv/.installed-dev ## install what tests and linters need too
	@:

.venv/.installed: requirements.txt constraints.txt
	@bin/setup requirements.txt
	@$(PY) manage.py export_model
	@touch $@

.venv/.installed-dev: .venv/.installed requirements-dev.txt
	@bin/setup requirements-dev.txt
	@touch $@

run: setup ## start everything, with demonstration policies; Ctrl-C stops it
	@$(PY) -m legalqa.run

dev: setup ## the same, and restart the web process when code changes
	@DJANGO_DEBUG=$${DJANGO_DEBUG:-true} $(PY) -m legalqa.run --reload

test: setup-dev ## all tests but those in a browser, with the coverage that they must reach
	@OMP_NUM_THREADS=1 $(PY) -m pytest -m "not browser" -n $(or $(TEST_PROCESSES),2) \
		--dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered --cov-fail-under=90 $(PYTEST_ARGS)

test-browser: setup-dev ## the tests in a real Chromium
	@CHROMIUM="$$(bin/chromium)" $(PY) -m pytest -m browser $(PYTEST_ARGS)

demo: setup ## load the demonstration, ask four questions
	@$(PY) manage.py migrate --no-input --verbosity 0
	@$(PY) manage.py demo

lint: setup-dev ## format, lint, types, imports, templates
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy .
	@.venv/bin/lint-imports
	@$(PY) -m djlint --check --lint templates

stop: ## stop a run of this checkout and the embedded services
	@[ ! -x $(PY) ] || $(PY) -m legalqa.run --stop

clean: ## remove all data, logs and the installation; asks first (YES=1 does not)
	@bin/confirm-clean "$(VAR)"
	@$(MAKE) --no-print-directory stop
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@cd "$(VAR)" 2>/dev/null && rm -rf pg pg.new redis run log files models static secret_key \
		celerybeat-schedule* coverage* || true
	@rmdir "$(VAR)" 2>/dev/null || true
	@find . -name __pycache__ -prune -exec rm -rf {} +

constraints: setup-dev ## pin what the requirements bring along, after changing them
	@{ echo '# What the direct requirements bring along, pinned. Made by `make constraints`.'; \
	  $(PY) -m pip freeze --exclude pip --exclude setuptools | sed 's/^\(torch==[^+]*\)+.*/\1/'; \
	} > constraints.new && mv constraints.new constraints.txt
