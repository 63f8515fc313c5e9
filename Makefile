# Each target sets up what it needs; `make help` lists them.

VENV := .venv/bin/python
PYTHON ?=
ARGS ?=
NAME ?=
SHARE ?=
LAB ?=
FROM ?=
ROSTER ?=
INTO ?=
# A machine without a display is told the address instead; macOS always has one.
BROWSER := $(if $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname)),,--no-browser)

.PHONY: help setup lab test bench grade formgrade notebooks release lock clean

help: ## list the targets
	@echo "make lab, make test, ...: each first installs what it needs into .venv"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## install requirements.txt into .venv (PYTHON=... chooses the interpreter)
	@PYTHON="$(PYTHON)" bash setup/venv.sh

lab: setup ## open the start page and the notebooks in JupyterLab
	@mkdir -p notebooks
	-@$(VENV) -m lab_utils start >/dev/null
	@echo "starting JupyterLab with notebooks/; press Ctrl-C twice to end it"
	@JUPYTER_CONFIG_PATH="$(CURDIR)/lab_utils/kit/machine/jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
		$(VENV) -m jupyterlab $(BROWSER) --notebook-dir=notebooks \
		--LabApp.default_url=/lab/tree/START.ipynb --log-level=WARN $(ARGS)

test: setup ## run linters, type checker and tests (LAB=name: what concerns one lab; ARGS="-k dot" goes to pytest)
	@bash tests/all.sh $(if $(LAB),-k "$(LAB)") $(ARGS)

bench: setup ## run the benchmarks and write build/bench.json (NAME=... runs one)
	@$(VENV) -m tests.benchmarks $(NAME)

grade: setup ## grade a class (FROM=folder or download, ROSTER=students.csv, LAB=name); without FROM a sample class
	@$(VENV) -m autograder grade $(LAB) $(if $(FROM),--from "$(FROM)",--sample) $(if $(ROSTER),--roster "$(ROSTER)") $(ARGS)

formgrade: setup ## read essays and give points in a browser (LAB=name; INTO=folder if `grade --into` was told one)
	@$(VENV) -m autograder formgrade $(LAB) $(if $(INTO),--into "$(INTO)") $(BROWSER) $(ARGS)

notebooks: setup ## build cases, pictures, solved and student notebooks (all derived files)
	@$(VENV) -m autograder notebooks

release: ## publish a release for students (SHARE=... names the folder, ARGS=--check only looks)
	@bash setup/release.sh $(if $(SHARE),--share "$(SHARE)") $(ARGS)

lock: ## write requirements.lock anew after a change of requirements.txt
	@PYTHON="$(PYTHON)" bash setup/lock.sh

clean: ## delete everything that can be made again, .venv too
	rm -rf .venv build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
