# Martlet's work bench. `make` alone lists what it can do.

PREFIX ?= /usr/local
DESTDIR ?=
ARGS ?=

UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/system
USER_UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/user
EXAMPLES := $(DESTDIR)$(PREFIX)/share/doc/martlet/examples
CONFIGURATION := $(DESTDIR)/etc/martlet/martlet.yaml
LOGROTATE := $(DESTDIR)/etc/logrotate.d/martlet
# Where the shells look for completions. Debian's zsh looks in $(PREFIX)/share/zsh/vendor-completions.
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

BINARY := .build/release/martlet
AT_PREFIX := sed 's|/usr/bin/martlet|$(PREFIX)/bin/martlet|g'
SOURCES := Package.swift Sources Tests Examples Benchmarks Fuzz

.DEFAULT_GOAL := help
.PHONY: help run build build-tests test test-unit test-e2e test-systemd test-container check lint format reference bench bench-chain bench-replicas profile soak soak-hostile tsan fuzz image deb install install-man install-completions install-symbols clean
# Two `swift build` in one folder only wait for each other.
.NOTPARALLEL:

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and serve; without ARGS the demo on 127.0.0.1:8080 (make run ARGS='-c etc/martlet.yaml')
	@exec $(BINARY) $(ARGS)

build: ## Install missing C libraries and build the release binary
	@scripts/install-build-deps
	@scripts/build-release

build-tests: ## Build the tests and every program that they run
	@scripts/install-build-deps
	@# Side by side: what is released is optimized as a whole, by one processor.
	@scripts/sanitized address build --build-tests & tests=$$!; \
	scripts/build-release && scripts/build-release --product chain-bench \
		&& swift build --disable-index-store --disable-build-manifest-caching --package-path Examples/OwnInterceptor; \
	programs=$$?; wait $$tests && exit $$programs

test: test-unit test-e2e ## Run every test, installing what the tests need

test-unit: ## Run the unit and in-memory tests under AddressSanitizer
	@scripts/install-build-deps
	scripts/test-unit $(ARGS)

test-e2e: build ## Run the release binary against real clients and servers
	@scripts/install-test-deps
	@# Files that wait run together when the others are done; those that measure, or need the whole machine, one by one.
	@status=0; \
	.venv/bin/python -m pytest Tests/EndToEnd -m 'not alone and not waits' -n 3 --dist loadfile || status=$$?; \
	.venv/bin/python -m pytest Tests/EndToEnd -m waits -n 6 --dist worksteal || status=$$?; \
	.venv/bin/python -m pytest Tests/EndToEnd -m alone || status=$$?; \
	exit $$status

test-systemd: build ## Boot Debian under systemd and run the service there (as root)
	@scripts/test-systemd

test-container: build ## Run the container image's contents under runc, without Docker (as root)
	@scripts/install-container-deps
	.venv/bin/python -m pytest Tests/Container

check: lint ## Check style, floors, words, sentences, unit files and manual pages
	scripts/check-floors
	scripts/check-words
	scripts/check-sentences
	scripts/check-units
	scripts/check-manual

lint: ## Check the format of the Swift sources and the shell scripts
	@scripts/install-check-deps
	swift format lint --strict --recursive $(SOURCES)
	grep -lE '^#!.*\b(ba)?sh$$' scripts/* packaging/debian/* .ci/run | xargs shellcheck

format: ## Format the Swift sources in place
	swift format --in-place --recursive $(SOURCES)

reference: build ## Write docs/reference.md anew, from the tables of options
	$(BINARY) reference > docs/reference.md

bench: build ## Measure Martlet beside other proxies (a part: make bench ARGS='--cases http1-small')
	@scripts/install-bench-deps
	.venv/bin/python Benchmarks/peers/bench.py $(ARGS)

bench-replicas: build ## See what becomes of calls when replicas come, go and fail, beside Envoy and HAProxy
	@scripts/install-bench-deps
	.venv/bin/python Benchmarks/replicas/compare.py $(ARGS)

bench-chain: build ## Measure what interceptors cost a call: processor time and allocations
	@scripts/install-test-deps
	.venv/bin/python Benchmarks/chain/chain.py

profile: ## Record anew which code is hot, and its order; builds make use of both
	@scripts/install-build-deps
	@scripts/install-bench-deps
	@scripts/record-profile
	@scripts/build-release
	@scripts/record-order

soak: build ## Run mixed traffic for SOAK_MINUTES (15) and see whether memory grows or calls fail
	@scripts/install-test-deps
	.venv/bin/python Tests/Soak/soak.py

soak-hostile: build ## Run hostile parties beside honest callers for SOAK_MINUTES (30): memory, failed and slow calls
	@scripts/install-test-deps
	.venv/bin/python Tests/Soak/hostile.py

tsan: ## Run the unit and in-memory tests under ThreadSanitizer
	@scripts/install-build-deps
	scripts/sanitized thread test --disable-xctest $(ARGS)

fuzz: ## Run every fuzzer for a minute (FUZZ_SECONDS=60), or those of FUZZERS alone
	@scripts/install-build-deps
	@scripts/sanitized address build --product martlet-fuzz
	@scripts/fuzz $(FUZZERS)

image: ## Build the container image martlet:latest (SOURCE=URL labels it with its source)
	docker build --tag martlet $(if $(SOURCE),--label org.opencontainers.image.source=$(SOURCE)) \
	    $(if $(SOURCE),--label org.opencontainers.image.documentation=$(SOURCE)) .

deb: ## Build Debian packages, linked against Debian's nghttp2, and check them: .build/deb
	@scripts/install-build-deps
	@scripts/install-package-deps
	@NGHTTP2=installed scripts/build-release
	@scripts/build-deb .build/deb
	@lintian --allow-root --fail-on error,warning .build/deb/*.deb

install-man: # The manual pages, as part of `install`
	install -D -m 0644 docs/man/martlet.1 $(DESTDIR)$(PREFIX)/share/man/man1/martlet.1
	install -D -m 0644 docs/man/martlet.yaml.5 $(DESTDIR)$(PREFIX)/share/man/man5/martlet.yaml.5

install-completions: # The completions for shells, as part of `install`
	@test -x $(BINARY) || { echo "install: build it first: make build" >&2; exit 1; }
	install -d $(DESTDIR)$(BASH_COMPLETIONS) $(DESTDIR)$(ZSH_COMPLETIONS) $(DESTDIR)$(FISH_COMPLETIONS)
	$(BINARY) completion bash | install -m 0644 /dev/stdin $(DESTDIR)$(BASH_COMPLETIONS)/martlet
	$(BINARY) completion zsh | install -m 0644 /dev/stdin $(DESTDIR)$(ZSH_COMPLETIONS)/_martlet
	$(BINARY) completion fish | install -m 0644 /dev/stdin $(DESTDIR)$(FISH_COMPLETIONS)/martlet.fish

install: install-man install-completions ## Install the built binary, units and configuration (DESTDIR, PREFIX)
	install -D -s -m 0755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/martlet
	install -d $(UNITS) $(USER_UNITS) $(EXAMPLES)/tests
	$(AT_PREFIX) systemd/martlet.service | install -m 0644 /dev/stdin $(UNITS)/martlet.service
	sed -f systemd/template.sed systemd/martlet.service | $(AT_PREFIX) | install -m 0644 /dev/stdin $(UNITS)/martlet@.service
	$(AT_PREFIX) systemd/martlet-user.service | install -m 0644 /dev/stdin $(USER_UNITS)/martlet.service
	install -m 0644 systemd/martlet.socket $(UNITS)
	install -D -m 0644 systemd/martlet.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/martlet.conf
	install -m 0644 etc/examples/*.yaml $(EXAMPLES)
	install -m 0644 etc/examples/tests/*.yaml $(EXAMPLES)/tests
	cd etc && find kustomize -type f -exec install -D -m 0644 {} $(DESTDIR)$(PREFIX)/share/doc/martlet/{} \;
	@for licence in .build/licences/*; do \
	    test ! -e "$$licence" || install -m 0644 "$$licence" $(DESTDIR)$(PREFIX)/share/doc/martlet; done
	scripts/sbom $(DESTDIR)$(PREFIX)/bin/martlet | install -m 0644 /dev/stdin $(DESTDIR)$(PREFIX)/share/doc/martlet/martlet.spdx.json
	test -e $(CONFIGURATION) || install -D -m 0644 etc/martlet.yaml $(CONFIGURATION)
	test -e $(LOGROTATE) || install -D -m 0644 systemd/martlet.logrotate $(LOGROTATE)

install-symbols: ## Install the symbol file of the built binary where gdb looks for it (DESTDIR)
	@test -e $(BINARY).debug || { echo "install-symbols: build it first: make build" >&2; exit 1; }
	id=$$(readelf --notes $(BINARY).debug 2>/dev/null | sed -n 's/.*Build ID: //p') \
	    && install -D -m 0644 $(BINARY).debug $(DESTDIR)/usr/lib/debug/.build-id/$$(echo $$id | cut -c 1-2)/$$(echo $$id | cut -c 3-).debug

clean: ## Remove everything that was built
	rm -rf .build Examples/*/.build .venv
