# Every target that a person needs; `make` lists them. Only Go is needed for run and test.
.DEFAULT_GOAL := help
GO ?= go
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo dev)
MODULE = $(shell $(GO) list -m)
LDFLAGS := -X main.version=$(VERSION)
TOOLS := $(CURDIR)/.tools
# One way to compile, so that tests, linters, tools and functions share what is compiled once. Debuggers need DWARF, which
# costs an eighth of the time: to debug, compile without infra/goflags.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) $(shell cat infra/goflags)
GOLANGCI_VERSION := v2.5.0
# The packages that have tests with the build tag "real".
REAL = $$(grep -rl --exclude-dir=.tools --exclude-dir=node_modules --include="*_test.go" "^//go:build real" . | xargs -n1 dirname | sort -u)
# The tests in those files. `make test` runs the other tests of these packages.
REAL_TESTS = $$(grep -rl --exclude-dir=.tools --exclude-dir=node_modules --include="*_test.go" "^//go:build real" . | xargs sed -n 's/^func \(Test[A-Za-z0-9]*\)(t \*testing.T.*/\1/p' | sort -u | paste -sd '|')
# The conformance suites of the embedded drivers, for the table that compares them with the real ones.
EMBEDDED_TESTS = TestStock|TestItemsConform|TestStoreConforms|TestQueueConforms
# Of REAL, what waits longest: begun first.
SLOW = ./shared/driver/sqsqueue ./shared/driver/redisstock
PICTURES ?= $(CURDIR)/.tools/pictures

.PHONY: help
help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

.PHONY: run
run: ## the whole system on http://localhost:8100 with demo data; ARGS="--port 8200 --hold 2m" passes flags; EDGE=true behind a CDN
	@test -x bin/seckill || echo "Building bin/seckill: the first time this takes one to three minutes."
	@$(MAKE) --no-print-directory -s build
ifeq ($(EDGE),true)
	@$(GO) build -o $(TOOLS)/stack ./infra/stack
	@bin/seckill run $(ARGS) & shop=$$!; trap 'kill $$shop 2>/dev/null; wait $$shop' EXIT; trap : INT TERM; \
	$(TOOLS)/stack stand-in -said "Through a stand-in for the CDN:" -origin $(or $(ORIGIN),http://127.0.0.1:8100)
else
	@exec bin/seckill run $(ARGS)
endif

.PHONY: build
build: ## the command line tool, in bin/seckill
	$(GO) build -ldflags "-s -w $(LDFLAGS)" -o bin/seckill ./cmd/seckill

SAM ?= e2e/servers/sam.sh
ENV ?= default
# The processor: this machine's for a stand-in on it, else the cheaper one.
ARCH ?= $(if $(filter default,$(ENV)),$(if $(filter x86_64,$(shell uname -m)),x86_64,arm64),arm64)

.PHONY: functions
functions: ## the Lambda functions and their template, in .aws-sam/build; ARCH=arm64 or x86_64
	GOFLAGS="$$GOFLAGS -tags=lambda.norpc -ldflags=-s" SAM_CLI_TELEMETRY=0 SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS=1 \
		$(SAM) build --template template.yaml --parallel --parameter-overrides Architecture=$(ARCH)

.PHONY: release
release: functions build ## as functions, and what it is made of, with licences, in .aws-sam/sbom.json (CycloneDX)
	$(GO) run ./infra/release bin/seckill $$(find .aws-sam/build -name bootstrap | sort) >.aws-sam/sbom.json

GOVULNCHECK_VERSION := v1.1.4
.PHONY: vulnerabilities
vulnerabilities: $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION) ## known holes that the code reaches, if the database can be asked
	@out=$$($< ./cmd/... ./functions/... 2>&1); code=$$?; echo "$$out"; case $$out in *"fetching vulnerabilities"*) \
	echo "vulnerabilities: NOT RUN: the database of known holes cannot be reached from here" >&2; exit 0;; esac; exit $$code

$(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION):
	GOFLAGS= GOBIN=$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv $(TOOLS)/govulncheck $@

.PHONY: validate
validate: ## the templates by SAM's and CloudFormation's rules, and by ours
	AWS_DEFAULT_REGION=eu-west-1 SAM_CLI_TELEMETRY=0 e2e/servers/sam.sh validate --lint
	@mkdir -p $(TOOLS)/templates && $(GO) run ./infra/stack templates $(TOOLS)/templates # whose rules are in infra/edge
	e2e/servers/sam.sh lint $(filter-out infra/edge.yaml infra/wall.yaml,$(wildcard infra/*.yaml)) $(TOOLS)/templates/*.yaml
	SAM_PYTHON=$$(e2e/servers/sam.sh --python) $(GO) test -tags sam ./e2e/template

.PHONY: deploy
deploy: release ## to an environment of samconfig.toml: ENV=dev, staging or prod; without ENV to AWS_ENDPOINT_URL; EDGE=true with a CDN
	SAM=$(SAM) ARCH=$(ARCH) GRADUAL=$(GRADUAL) EDGE=$(EDGE) infra/stack.sh deploy $(ENV) $(VERSION)
	@SAM=$(SAM) infra/stack.sh urls $(ENV)

.PHONY: destroy
destroy: ## delete an environment's stack; its tables stay, TABLES=delete takes a sandbox's along
	SAM=$(SAM) infra/stack.sh destroy $(ENV) $(TABLES)

.PHONY: logs
logs: ## follow an environment's logs; FUNCTION=BuyFunction for one
	@SAM=$(SAM) infra/stack.sh logs $(ENV) $(FUNCTION)

.PHONY: urls
urls: ## an environment's addresses
	@SAM=$(SAM) infra/stack.sh urls $(ENV)

# Each target brings everything up, deploys, tests and stops it again.
.PHONY: e2e
e2e: ## the end-to-end suite on a deployed stack: TARGET=ministack (default), localstack, samlocal or aws; ARGS="-run TestName -v"
	@e2e/target/run.sh $(or $(TARGET),ministack) $(ARGS)

.PHONY: localstack localstack-deploy localstack-stop
localstack: ## LocalStack on http://localhost:4566 and a Redis, which stay up until make localstack-stop
	@e2e/target/local.sh start

# make localstack-deploy urls: the addresses on that LocalStack.
ifneq ($(filter localstack-deploy,$(MAKECMDGOALS)),)
export AWS_ENDPOINT_URL ?= http://localhost:4566
endif
localstack-deploy: ## the system to that LocalStack as a sandbox, with a fake payment gateway; HOLD=5m
	@e2e/target/local.sh deploy

localstack-stop:
	@e2e/target/local.sh stop

.PHONY: test
test: ## everything that needs only Go
	$(GO) test -vet=off ./... # make lint vets

.PHONY: check
check: lint race real browser ## test again under the race detector and on real servers, lint, drive the storefront in Chromium

# The race detector runs on the packages that start goroutines, in their code or in their tests; `make nightly` runs it on all.
# Left out:
#   tools that no shopper meets: cmd, infra, report, audit, e2e but lambdahost and suite;
#   sim, which plays a sale in one goroutine, but for TestSeedsRepeat, which plays several sales at once;
#   redisstock, whose concurrent code the tests of crowd and local run as well.
RACE ?= $$(git grep -lE '^\s*go (func|[a-zA-Z.]+\()|\.Go\(' -- '*.go' | xargs -n1 dirname | sort -u | grep -Ev '^(e2e/(account|drills|growth|localstack)|infra|proof/(report|audit|sim)|cmd|shared/driver/redisstock)' | sed 's,^,./,')
.PHONY: race
race:
	@command -v gcc >/dev/null || { echo "check: the race detector needs a C compiler: apt-get install gcc libc6-dev" >&2; exit 1; }
	@test -n "$(RACE)" || { echo "race: no packages: is this a git checkout?" >&2; exit 1; }
	CGO_ENABLED=1 $(GO) test -vet=off -race -timeout 30m $(RACE)
	CGO_ENABLED=1 $(GO) test -vet=off -race -run TestSeedsRepeat ./proof/sim

.PHONY: real
real: ## tests on a real Redis, DynamoDB- and SQS-compatible servers, and against the own code of Alipay, Standard Webhooks and ALTCHA
	e2e/alipaysdk/install.sh
	e2e/webhooks/install.sh
	e2e/altcha/install.sh
	@mkdir -p $(TOOLS)
	$(GO) build -o $(TOOLS)/conformance ./e2e/conformance
	tests="$(REAL_TESTS)|$(EMBEDDED_TESTS)" e2e/servers/with.sh bash -o pipefail -c '$(GO) test -json -vet=off -tags real -count=1 -timeout 20m -p 4 -run "^($$tests)$$" $(SLOW) ./shared/fake/memory $(REAL) | $(TOOLS)/conformance'

# Not in .ci/run: this takes too long for every change.
.PHONY: nightly
nightly: ## what takes longer than .ci/run may; prints a table of parts and times; ONLY="fuzz,drills" runs some parts
	@.ci/nightly $(ONLY)

.PHONY: threes
threes: ## every cast of three actors at one order's money, takes hours; ARGS="-threes 10 -draw 0" plays the first tenth
	$(GO) test -count=1 -timeout 6h ./proof/sim -run TestMoneyInterleaved -v -args -threes 100 $(ARGS)

.PHONY: soak
soak: build ## simulate until stopped (Ctrl-C), from a seed of its own; FROM=1000000 says which
	bin/seckill sim --minutes 1000000 --seed $(or $(FROM),$(shell date +%s))

# DynamoDB Local answers slowly, and wants a Java.
.PHONY: second
second: ## a second opinion: ledger and items on Amazon's own DynamoDB Local (Java 17), in about two minutes
	@mkdir -p $(TOOLS)
	$(GO) build -o $(TOOLS)/conformance ./e2e/conformance
	@dir=$$(mktemp -d) && trap 'e2e/servers/dynamodb.sh stop "$$dir"; rm -rf "$$dir"' EXIT && \
	SECKILL_TEST_DYNAMODB=$$(e2e/servers/dynamodb.sh start "$$dir" local) && export SECKILL_TEST_DYNAMODB && \
	bash -o pipefail -c '$(GO) test -json -vet=off -tags real -count=1 -timeout 60m ./shared/driver/dynamoledger | $(TOOLS)/conformance'

.PHONY: lint
lint: $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION) ## formatting and linters
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-formatted: $$unformatted" >&2; exit 1; }
	GOLANGCI_LINT_CACHE=$(TOOLS)/lint $< run --build-tags real,e2e,sam,slips ./...

$(TOOLS)/golangci-lint-$(GOLANGCI_VERSION):
	@echo "building golangci-lint $(GOLANGCI_VERSION) into .tools, once (about two minutes)"
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(TOOLS)/golangci-lint $@

.PHONY: browser
browser: build ## drive the storefront in Chromium: buy, pay, expiry, resale, two languages
	web/browsertest/run.sh bin/seckill $(PICTURES)

.PHONY: edge
edge: ## the CDN's function in Node and in njs, which reads what CloudFront reads; the stand-in for the CDN, by nginx
	SECKILL_TEST_EDGE=1 $(GO) test -count=1 ./infra/edge

.PHONY: pictures
pictures: browser ## as browser, and replace those screenshots that docs/pictures has
	cd docs/pictures && for f in *.png; do cp "$(PICTURES)/$$f" .; done

.PHONY: film
film: build ## a sale as an animated picture, docs/pictures/sale.webp
	web/browsertest/run.sh bin/seckill $(CURDIR)/docs/pictures film

.PHONY: day-pictures
day-pictures: build ## pictures of the sale day in docs/OPERATE.md
	web/browsertest/run.sh bin/seckill $(CURDIR)/docs/pictures day

.PHONY: bench
bench: ## benchmarks of the hot paths, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./shared/... ./local

SIZES ?= 1000,10000,100000,1000000
.PHONY: growth
growth: ## what a sale of more units costs: Redis memory, time of stage, drift pass and rebuild; SIZES=1000,1000000
	$(GO) test -tags real -count=1 -timeout 60m -v -run TestGrowth ./e2e/growth -args -sizes $(SIZES)

.PHONY: coverage
coverage: ## what of each function of the flows the simulator reaches, in 20,000 seeds; ARGS="--seeds 100" plays fewer
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(GO) build -cover -covermode=atomic -coverpkg=./shared/flow/...,./cmd/seckill -o "$$dir/seckill" ./cmd/seckill && \
	GOCOVERDIR="$$dir" "$$dir/seckill" sim --seeds 20000 $(ARGS) && \
	$(GO) tool covdata textfmt -i="$$dir" -o="$$dir/profile" && grep -v /cmd/seckill/ "$$dir/profile" >"$$dir/flows" && \
	$(GO) tool cover -func="$$dir/flows"

.PHONY: drills
drills: build ## break Redis, database, queues, processes and network while 10,000 shoppers buy, and audit each sale; ARGS="-only redis-flush,network"
	@e2e/drills/run.sh $(ARGS)

.PHONY: opening
opening: build ## a sale's first minute in an account that enforces its limits, at 1:100, with no instance warm
	@e2e/drills/run.sh -only opening

.PHONY: mutants
mutants: ## sabotage flows, scripts and ledger in one place at a time: the simulator or a test has to notice; ARGS="-only NAME" plays one
	$(GO) run ./proof/sim/mutants $(ARGS)

.PHONY: slips
slips: ## follow each row of docs/CHANGING.md in a copy, forget one place, and see its tests fail; PLAY=1 plays one, drawn by DRAW
	SAM_PYTHON=$$(e2e/servers/sam.sh --python) $(GO) test -vet=off -tags slips -count=1 -timeout 1h . -run TestSlipsAreNoticed -v \
		-args -play "$(or $(PLAY),all)" -draw "$(DRAW)"

.PHONY: module
module: ## give the Go module a path of your own: NEW=github.com/YOU/seckill
	@test -n "$(NEW)" || { echo "module: say the new path: make module NEW=github.com/YOU/seckill" >&2; exit 1; }
	@grep -rlI --null --exclude-dir=.git --exclude-dir=.tools --exclude-dir=node_modules -F '$(MODULE)' . | \
		xargs -0 perl -pi -e 's#\Q$(MODULE)\E#$(NEW)#g'
	@gofmt -w .
	@echo "the module is $(NEW)"

.PHONY: fuzz
fuzz: ## each fuzz target for 30 s
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
		echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime 30s $$pkg || exit 1; done; done

.PHONY: generate
generate: ## write what is made from code: pages of docs/, and the shop's own in web/dist from web/src
	$(GO) run ./web/bundle
	$(GO) test ./shared/seckill -run TestStateMachineDoc -update
	$(GO) test ./proof/sim -run 'TestPaymentPage|TestKillPoints' -update
	$(GO) test . -run 'TestDecisionsAreListed|TestArchitecture' -update
	$(GO) test ./infra/plan -run TestText -update
	$(GO) test ./cmd/seckill -run TestDeployPageListsRoles -update
	$(GO) test ./shared/driver/ledger ./shared/driver/dynamoledger -run TestDataPageLists -update
	$(GO) test ./shared/fake/fakegateway -run TestEachFaultIsExplained -update

.PHONY: alarms
alarms: ## write the list of alarms, and what an idle month costs, from the templates
	SAM_PYTHON=$$(e2e/servers/sam.sh --python) $(GO) test -tags sam ./e2e/template \
		-run 'TestAlarmsAreCounted|TestIdleCost' -update

.PHONY: house
house: ## how large the house is: packages, lines, tables, parameters, bytes of a function
	@$(GO) run ./infra/house

.PHONY: figures
figures: build ## what docs/GUARANTEES.md says of long runs, anew: 100,000 seeds, a quarter of an hour
	bin/seckill sim --seeds 100000 --figures docs/GUARANTEES.md
