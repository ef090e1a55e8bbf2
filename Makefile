# tollgate: the commands of the README.

CARGO ?= cargo
ARGS ?=

.PHONY: help demo test full bench faults lint setup

help:
	@echo 'make demo    find, fix, build two kernels, boot both, compare (ARGS=... is handed on)'
	@echo 'make test    every test'
	@echo 'make full    what takes hours, step by step; a run that was stopped is taken up'
	@echo 'make bench   scan and gates against their floors (benches/peers: scan against other tools)'
	@echo 'make faults  plant known mistakes in the kernel, see each of them named'
	@echo 'make lint    what a change must pass before it is sent'

setup:
	@scripts/setup

demo: setup
	@$(CARGO) run --release --bin tollgate -- prove epoll $(ARGS)

# What was skipped is listed and counted; TOLLGATE_TEST_ALL=1 skips nothing that a
# machine could have.
SKIPPED := $(CURDIR)/target/skipped

test:
	@scripts/setup $(if $(filter 1,$(TOLLGATE_TEST_ALL)),--all-tests)
	@mkdir -p $(dir $(SKIPPED)) && : >$(SKIPPED)
	TOLLGATE_SKIPPED=$(SKIPPED) $(CARGO) test --workspace; status=$$?; \
	sort -u $(SKIPPED); echo "$$(sort -u $(SKIPPED) | wc -l) tests or parts of them skipped"; \
	exit $$status

full:
	@scripts/full-tests

bench:
	@scripts/setup --bench
	@$(CARGO) build --quiet --release
	@benches/scan-against-rg
	@benches/gates-against-objdump

faults: setup
	@scripts/faults

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
