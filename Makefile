# The short way. Each target installs what is missing first (tools/setup.sh says what), and does nothing twice.
# The CMake way, without this file: docs/build.md.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo python build test-build test test-long bench install format format-check layers tidy check clean

ifeq ($(shell id -u),0)
PREFIX ?= /usr/local
else
PREFIX ?= $(HOME)/.local
endif
BUILD := build/release

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  PREFIX=FOLDER (install)   JOBS=N (sources compiled at a time)   SAGIPS_TORCH=FOLDER (your own LibTorch)"
	@echo "  CHANGED=REVISION, PARTS=\"tidy asan\" (check)"

# Tests and benchmarks are configured by the first target that needs them, and stay: no object of the program changes.
ALONE = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DSAGIPS_BUILD_TESTS=OFF -DSAGIPS_BUILD_BENCHMARKS=OFF)

setup: ## Install what the program needs: Debian packages, and LibTorch into .venv
	@tools/setup.sh

demo: ## Build what it needs, then recover the six parameters of the 1D proxy, by moments and by networks
	@tools/setup.sh demo
	@tools/build.sh release $(ALONE) sagips
	@$(BUILD)/cli/sagips compare proxy1d

# By pip, so that it is a package as others are; objects stay in build/wheel.
python: ## Build the Python package into .venv: .venv/bin/python -c "import sagips"
	@tools/setup.sh python
	@echo "python: compiling (minutes)"
	@CMAKE_BUILD_PARALLEL_LEVEL=$${JOBS:-$$(nproc)} env -u SAGIPS_TORCH .venv/bin/python -m pip install --quiet \
	  --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall .
	@.venv/bin/python -c "import sagips; print('python: sagips', sagips.__version__, 'for .venv/bin/python')"

build: setup ## Build library and programs (preset release)
	@tools/build.sh release $(ALONE)

test-build: ## Build the tests, too
	@tools/setup.sh tests
	@tools/build.sh release $(ALONE) -DSAGIPS_BUILD_TESTS=ON

# One test more than cores: many wait for programs, for disks or for time to pass.
test: test-build ## Build and run every test but the long ones
	@ctest --preset release --parallel $$(($$(nproc) + 1)); status=$$?; tools/count_tests.py $(BUILD); exit $$status

test-long: test-build ## Run the long tests, going on where an earlier call stopped
	@tools/check.py long

bench: ## Build and run the benchmarks
	@tools/setup.sh bench
	@tools/build.sh release $(ALONE) -DSAGIPS_BUILD_BENCHMARKS=ON bench

install: build ## Install library and program under PREFIX (/usr/local as root, else ~/.local)
	@cmake --install $(BUILD) --prefix "$(PREFIX)"
	@echo "installed: $(PREFIX)/bin/sagips; find_package(sagips) works with -DCMAKE_PREFIX_PATH=$(PREFIX)"

format: ## Format our C++ sources
	@tools/format.sh

format-check: ## Say which sources are not formatted
	@tools/format.sh --check

layers: ## Prove the include law
	@tools/check_layers.py

tidy: ## Run clang-tidy on our sources (minutes)
	@tools/check.py tidy

check: ## Warnings, sanitizers, clang-tidy, long tests (hours; goes on); CHANGED=REVISION: what differs from it
	@tools/setup.sh tests
	@tools/check.py $(if $(CHANGED),--changed $(CHANGED)) $(PARTS)

clean: ## Remove the build folders; keeps .venv, runs and what checks have passed
	@rm -rf build/release build/dev build/asan build/tsan build/tidy
