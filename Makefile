# Every target sets up what it needs, from nothing but python3, make and the package registries.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
# Spawned commands would otherwise compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# uv brings certificates of its own; behind a proxy only the machine's store has the right ones.
export UV_SYSTEM_CERTS ?= true

PYTHON ?= python3
UV_VERSION := 0.13.7
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# What was downloaded once is not asked for again: a second checkout is set up with the network cut.
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/switchyard/wheels
UV := uv==$(UV_VERSION)
KEPT := --no-index --find-links $(WHEELS) $(UV)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
FETCH := VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install
INSTALL := $(FETCH) --quiet
LOCKED := --require-hashes -r requirements.lock
PYTEST := $(BIN)/python -m pytest
# More at a time than most machines have cores: tests wait for programs and servers. Each process has its own parts.
WORKERS ?= 3
SIDE_BY_SIDE := $(PYTEST) -n $(WORKERS) --dist worksteal
# Tests of the documentation's files and links: part of `make lint`.
LINTED := tests/unit/docs
# Tests of what users get: the wheel, the sample, the commands of the documentation.
SHIPPED_TESTS := tests/acceptance/docs tests/acceptance/packaging tests/acceptance/up
COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: help
help: ## list every target
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-18s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(STAMP) ## make .venv with everything pinned in requirements.lock

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Switchyard needs Python 3.11 or newer; set PYTHON=")'
	@echo 'Setting up $(VENV): the first time it downloads what the tests need too (1.7 GB on disk), which takes minutes …'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install $(KEPT) 2>/dev/null || { $(PIP) download --no-deps --dest $(WHEELS) $(UV) && $(PIP) install $(KEPT); }

$(STAMP): requirements.lock pyproject.toml | $(BIN)/uv
	@$(INSTALL) --offline $(LOCKED) 2>/dev/null || $(FETCH) $(LOCKED) 2>&1 | sed '/^ + /d'
	@$(INSTALL) --offline --no-deps --no-build-isolation -e .
	@touch $@

.PHONY: lock
lock: $(BIN)/uv ## resolve the dependencies anew, for work and for what is shipped
	$(BIN)/uv pip compile $(COMPILE) --all-extras --group dev --group build pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(COMPILE) --extra all -c requirements.lock pyproject.toml -o requirements-runtime.lock
	$(BIN)/uv pip compile $(COMPILE) --group sbom -o requirements-sbom.lock

.PHONY: run demo
run: setup ## everything on one machine with a sample assessment; Ctrl-C stops it
	@$(BIN)/switchyard up --folder var
demo: setup ## the same, and exits with 0 when the assessment and its callbacks are done
	@$(BIN)/switchyard up --folder var --once

.PHONY: lint
lint: setup ## ruff, mypy --strict, import-linter, squawk, the guards of tests/guards, the tests of the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/squawk --config .squawk.toml migrations/sql/*.up.sql migrations/current/*.sql
	$(PYTEST) -q --noconftest -p no:randomly -p no:xdist tests/guards $(LINTED)

.PHONY: format
format: setup ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: docs
docs: setup ## the documentation as a site, build/site/index.html; fails on a broken link
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean
	@echo build/site/index.html

.PHONY: schema
schema: setup ## write config/schema.json, docs/configuration-reference.md, docs/cli.md and docs/openapi.json from the code
	$(BIN)/switchyard schema > config/schema.json
	$(BIN)/python -m tools.reference > docs/configuration-reference.md
	$(BIN)/python -m tools.commands > docs/cli.md
	$(BIN)/signalbox openapi > docs/openapi.json

.PHONY: test test-all test-parts test-unit test-integration test-acceptance test-shipped test-cluster test-containers \
  test-moto test-faults test-pythons
test: setup ## what needs Python alone, with the real parts that `make parts` has built: at most 10 minutes
	$(SIDE_BY_SIDE) -m 'not slow and not container' $(addprefix --ignore=,$(LINTED) $(SHIPPED_TESTS)) \
	  tests/unit tests/integration tests/model tests/acceptance
test-all: parts test test-parts ## everything: builds the parts first
test-parts: test-shipped test-cluster test-containers test-moto test-faults test-api ## what `make test` leaves out
test-unit: setup ## no database, no network
	$(SIDE_BY_SIDE) -m 'not slow' tests/unit
test-integration: setup ## real Postgres, SQS and object store
	$(SIDE_BY_SIDE) -m 'not slow' tests/integration tests/model
test-acceptance: setup ## the spawned commands, real signals
	$(SIDE_BY_SIDE) -m 'not slow and not container' tests/acceptance
test-shipped: setup ## the wheel, `switchyard up` and every command of the documentation
	$(SIDE_BY_SIDE) -m 'not slow and not container' $(SHIPPED_TESTS)
test-cluster: setup ## real Kubernetes API server and Argo controller
	$(SIDE_BY_SIDE) tests/cluster
test-containers: setup ## the image, and the tests marked database on other servers: Postgres 17 in a container, Debian's 15, a wheel's 16
	$(PYTEST) -m container tests/acceptance
	$(SIDE_BY_SIDE) -m database tests/integration --postgres=container
	$(SIDE_BY_SIDE) -m database tests/integration --postgres=15
	$(SIDE_BY_SIDE) -m database tests/integration --postgres=16
# Where neither Java nor Go is there, moto is used for part of these tests: all of them pass on it.
test-moto: setup ## the tests of SQS and S3 again, on moto
	SWITCHYARD_TEST_SQS=moto SWITCHYARD_TEST_S3=moto $(SIDE_BY_SIDE) tests/integration/store/test_s3.py \
	  tests/integration/caboose/test_sqs.py tests/integration/caboose/test_cirrus.py tests/integration/backends/sqs
test-faults: setup ## programs killed under load, then a short fault campaign: every kind of fault, and the invariants
	$(PYTEST) -m slow tests/unit tests/integration tests/model tests/acceptance
	$(PYTEST) tests/faults
test-pythons: setup ## the other supported Pythons: unit and integration tests on 3.14, unit tests on those between
	WORKERS=$(WORKERS) .ci/test-pythons

.PHONY: spec
spec: setup ## the formal models in spec/, explored by Spin: every guard has a counterexample without it
	$(PYTEST) -n $(WORKERS) tests/spec

.PHONY: test-api
test-api: setup ## more than 5,000 made-up requests against the HTTP API (schemathesis)
	$(PYTEST) -rP tests/acceptance/signalbox/test_clients.py -k schemathesis --api-examples 60 --api-cases 5000 --timeout 3600

.PHONY: test-often
test-often: setup ## unit and integration tests again and again, each time in another order (make test-often TIMES=20)
	@for round in $$(seq $${TIMES:-20}); do seed=$$RANDOM; echo "== round $$round: --randomly-seed=$$seed"; \
	  $(SIDE_BY_SIDE) -q --randomly-seed=$$seed --hypothesis-profile=thorough tests/unit tests/integration || exit 1; done

.PHONY: bench faults
bench: setup ## every figure beside its peers or its floor, results/bench.json (three quarters of an hour; QUICK=1 minutes; ONLY=ledger.bulk)
	@$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(WORDS),--words "$(WORDS)")
FAULTS ?= 200
faults: setup ## kill, stop, cut and fill everything under load, then check that nothing was lost (FAULTS=200 SEED=7 LOG=1)
	@$(BIN)/python -m tests.faults --faults $(FAULTS) $(if $(SEED),--seed $(SEED)) $(if $(LOG),--log)

SAMPLE ?= 100
.PHONY: mutants
mutants: setup ## change core modules and SQL functions one place at a time and list what no test notices (SAMPLE=100 SEED=7 MODULE=claim)
	@nice $(BIN)/python -m tests.mutants --sample $(SAMPLE) $(if $(SEED),--seed $(SEED)) $(if $(MODULE),--module $(MODULE)) $(if $(JOBS),--jobs $(JOBS))

.PHONY: parts coverage
parts: setup ## download and build the real parts of the tests (a quarter of an hour, once)
	$(BIN)/python -m tests.parts.prepare
TESTS ?= tests/unit tests/integration tests/model tests/acceptance tests/cluster
coverage: setup ## lines and branches that the tests reach, in the programs they spawn too; results/coverage/
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -p tests.parts.covered $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --directory results/coverage
	$(BIN)/coverage report

# What is installed where the product runs: the wheel and its pinned dependencies, nothing of the tools.
SHIPPED := build/shipped
SHIP := VIRTUAL_ENV=$(SHIPPED) $(BIN)/uv pip install --quiet
PINNED := --require-hashes -r requirements-runtime.lock
SBOM := build/sbom
SBOM_TOOL := build/sbom-tool
SBOM_INSTALL := VIRTUAL_ENV=$(SBOM_TOOL) $(BIN)/uv pip install --quiet --require-hashes -r requirements-sbom.lock
IMAGE ?= switchyard
CONTAINERS ?= docker

.PHONY: wheel sbom image
wheel: setup ## build the wheel into dist/
	rm -f dist/*.whl
	$(BIN)/hatchling build -t wheel -d dist

$(SBOM_TOOL)/bin/cyclonedx-py: requirements-sbom.lock | $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(SBOM_TOOL)
	@$(SBOM_INSTALL) --offline 2>/dev/null || $(SBOM_INSTALL)
	@touch $@

sbom: setup $(SBOM_TOOL)/bin/cyclonedx-py ## list what the wheel brings with it, as CycloneDX, into dist/sbom.cdx.json
	rm -rf $(SBOM) $(SHIPPED)
	mkdir -p $(SBOM) dist
	$(BIN)/hatchling build -t wheel -d $(SBOM)
	$(BIN)/uv venv --quiet --python $(BIN)/python $(SHIPPED)
	$(SHIP) --offline $(PINNED) 2>/dev/null || $(SHIP) $(PINNED)
	$(SHIP) --offline --no-deps $(SBOM)/*.whl
	sed "s/^dynamic = .*/version = \"$$($(BIN)/hatchling version)\"/" pyproject.toml > $(SBOM)/pyproject.toml
	$(SBOM_TOOL)/bin/cyclonedx-py environment --pyproject $(SBOM)/pyproject.toml --output-reproducible \
	  -o dist/sbom.cdx.json $(SHIPPED)

image: wheel ## build the container image from the Containerfile
	$(CONTAINERS) build --file Containerfile --tag $(IMAGE) .

.PHONY: release
release: ## a dry run of a release into dist/: wheel, sdist, SBOM with hashes, notes, checksums, and the image where docker runs
	rm -rf dist
	@$(MAKE) wheel sbom
	$(BIN)/hatchling build -t sdist -d dist
	@if $(CONTAINERS) info >/dev/null 2>&1; then $(MAKE) image && $(CONTAINERS) image inspect --format '{{.Id}}' $(IMAGE) > dist/IMAGE_ID; \
	  else echo 'The image is not built: $(CONTAINERS) does not run here.'; fi
	$(BIN)/python -m tools.release dist
