# A sandbox stack on AWS that is deployed already (make deploy ENV=dev), named by STACK; credentials and region are the caller's. Sourced by run.sh.
# Never run. Redis is in a network of its own, where the suite does not reach it.
needs=(go)
stacks=("${STACK:?name the sandbox stack on AWS: make e2e TARGET=aws STACK=…}")
limits=small
redis="" kill=""
url="{Url}"

up() { :; }
build() { go build -o "$root/.tools/stackfile" "$here/stackfile"; }
secrets() { :; }
deploy_stack() { :; }
update_command() { :; }
down() { :; }
