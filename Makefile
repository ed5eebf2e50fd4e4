# Each target does the set-up that it needs by itself and asks nothing.
.DEFAULT_GOAL := help
.PHONY: help setup demo test diff sim mutants fuzz lint component

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## install what a build needs: a C compiler, a compiler for WebAssembly
	@scripts/setup.sh

demo: component ## a tour of the queue in a few seconds (the first build takes about ten minutes)
	@scripts/demo.sh

test: ## all tests, with real Redis and, where Python 3.12 is found, the original library
	@scripts/test.sh

diff: ## the Redis model and a real Redis side by side; N=100000 commands, ONLY= one test, SEED= from there
	@N='$(N)' ONLY='$(ONLY)' SEED='$(SEED)' scripts/diff.sh

sim: setup ## the queue under simulated faults, for MINUTES=1, from SEED=0 on
	@cargo run --locked --release -p leaseline-sim --example rate -- $$(( $(or $(MINUTES),1) * 60 )) $(or $(SEED),0)

mutants: setup ## mistakes put into the scripts, and how many of them the simulator finds; ARGS='--script NAME'
	@cargo xtask mutants $(ARGS)

fuzz: setup ## each fuzz target for SECONDS=60; the first build takes some minutes
	@SECONDS_EACH='$(or $(SECONDS),60)' scripts/fuzz.sh

lint: component ## formatting, clippy, documentation, wording
	@scripts/lint.sh

component: setup ## build the WebAssembly component if its sources have changed
	@cargo xtask component
