# tollgate: the commands of the README.

CARGO ?= cargo
ARGS ?=

.PHONY: help demo test full bench faults lint setup build install uninstall static deb install-test book chroot-test

help:
	@echo 'make demo    find, fix, build two kernels, boot both, compare (ARGS=... is handed on)'
	@echo 'make test    every test'
	@echo 'make full    what takes hours, step by step; a run that was stopped is taken up'
	@echo 'make bench   scan, check and gates against their floors (benches/peers: scan against other tools)'
	@echo 'make faults  plant known mistakes in the kernel, see each of them named'
	@echo 'make book    the documentation as one book, target/book (needs mdbook)'
	@echo 'make chroot-test  demo and test on bare Debians (root); a run that was stopped is taken up'
	@echo 'make lint    what a change must pass before it is sent'
	@echo 'make install the program, its man pages and completions (PREFIX=/usr/local, DESTDIR)'
	@echo 'make static  one program without libraries; make deb: a Debian package (docs/installing.md)'

setup:
	@scripts/setup

demo: setup
	@$(CARGO) run --profile demo --bin tollgate -- prove epoll $(ARGS)

# What was skipped is listed and counted; TOLLGATE_TEST_ALL=1 skips nothing that a
# machine could have.
SKIPPED := $(CURDIR)/target/skipped

test:
	@scripts/setup $(if $(filter 1,$(TOLLGATE_TEST_ALL)),--all-tests)
	@mkdir -p $(dir $(SKIPPED)) && : >$(SKIPPED)
	TOLLGATE_SKIPPED=$(SKIPPED) CARGO='$(CARGO)' scripts/tests; status=$$?; \
	sort -u $(SKIPPED); echo "$$(sort -u $(SKIPPED) | wc -l) tests or parts of them skipped"; \
	exit $$status

full:
	@scripts/full-tests

bench:
	@scripts/setup --bench
	@$(CARGO) build --quiet --release
	@benches/scan-against-rg
	@benches/check-against-scan
	@benches/gates-against-objdump

faults: setup
	@scripts/faults

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# What is installed. An installed tollgate needs neither this folder nor Rust.
PREFIX ?= /usr/local
INSTALL ?= install
BUILT := target/release
# What is made of the program's own flags: man pages, completions.
SHARED := $(BUILT)/share

# cargo alone knows what is older than its sources. Who installs as root need not build as
# root: what is built already is taken as it is (BUILD=no).
BUILD ?= yes

build:
ifneq ($(BUILD),no)
	$(CARGO) build --release --locked --bin tollgate
endif
	@rm -rf $(SHARED) && mkdir -p $(SHARED)
	@$(BUILT)/tollgate share $(SHARED) >/dev/null

install: build
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin
	$(INSTALL) -m 755 $(BUILT)/tollgate $(DESTDIR)$(PREFIX)/bin/tollgate
	cd $(SHARED) && find . -type f | while read -r file; do \
		$(INSTALL) -D -m 644 "$$file" "$(DESTDIR)$(PREFIX)/share/$$file" || exit 1; \
	done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/tollgate
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/tollgate.1 $(DESTDIR)$(PREFIX)/share/man/man1/tollgate-*.1
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tollgate
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_tollgate

static:
	@CARGO='$(CARGO)' scripts/static

deb: build
	@$(CARGO) deb --version >/dev/null 2>&1 || { echo 'cargo-deb is missing: cargo install --locked cargo-deb' >&2; exit 2; }
	$(CARGO) deb -p tollgate --no-build --locked

# tollgate on bare Debians, by each way to install it (as root; scripts/setup --chroot).
install-test:
	@scripts/install-test

# Links that lead nowhere, and pages that no one is led to, are a test's
# (crates/tollgate/tests/docs_commands.rs).
book:
	@command -v mdbook >/dev/null || { \
		echo 'make book: there is no mdbook; cargo install mdbook --version "^0.4"'; exit 2; }
	@mdbook build
	@echo target/book/index.html

chroot-test:
	@scripts/setup --chroot
	@scripts/chroot-test $(ARGS)
