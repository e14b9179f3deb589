// Command stack is what infra/stack.sh does in Go with a deployed stack. In: -stack, -region, AWS credentials (or
// AWS_ENDPOINT_URL); CONFIRM and BUSY in the environment; the templates in infra. Run it from the project's root.
//
// guard asks for confirmation before an irreversible act on a stack that is not a sandbox. Its exit code is 0 if it may
// be done, otherwise 1 after a sentence:
//
//	guard deploy    checks that the template has the parameters, that no table's throughput would have to be lowered,
//	                that one field of the cache changes at most, that GRADUAL and the stack's tables suit the release,
//	                that the secret of each function is there (also for sandboxes), that queues are empty and no order
//	                is open (or BUSY=true), and the typed name. KEY=VALUE… are the deployment's parameters. A stack
//	                whose creation failed is deleted; a new one is refused where tables with its names are
//	guard failed    tells why a deployment failed, and what to type
//	guard shields   prints, on standard output, the parameter that protects tables and accounts against deletion,
//	                where a shop is deployed and lacks it: not at its creation, which could not be rolled back then
//	guard protect   enables termination protection, after a deployment
//	guard destroy   checks the same as deploy, whatever BUSY is; then it disables termination protection
//
// CONFIRM=NAME replaces the typed name, in a pipeline. A stack that does not exist yet and a sandbox need no
// confirmation.
//
// deployment prints what makes a deployment new, 64 hexadecimal digits: a hash of what was built and of every
// parameter's value. Lambda's versions are published only when it changes (the parameter Deployment of template.yaml).
//
//	deployment -built DIR KEY=VALUE…
//	                the folder that `sam build` filled, and the parameters of this deployment; the stack's current ones
//	                come from CloudFormation, because `sam deploy` keeps those that are not named
//
// cdn deploys infra/edge.yaml, the CDN in front of a stack whose Edge parameter has made API keys, as the stack
// NAME-edge in us-east-1, and prints the shop's address. A key's value goes from API Gateway to CloudFormation, through
// this process only.
//
//	cdn deploy [-key a|b] [-share PERCENT] [-subdomains true|false] [KEY=VALUE…]
//	                creates or updates it; a parameter that is not named keeps its value. One network address may use
//	                -share of the stack's throttles, at most a quarter, before WAF refuses it; HSTS covers the
//	                subdomains of the shop's name with -subdomains true
//	cdn url         prints the address; nothing if there is no CDN
//	cdn destroy     deletes it; its bucket of logs stays
//
// wall prints infra/wall.yaml, the web ACL of the API itself, with the limits of a stack.
//
// templates DIR writes infra/edge.yaml and infra/wall.yaml as they are deployed by default, for a linter.
//
// stand-in runs a stand-in for the CDN on this machine, until Ctrl-C: the API at -origin is reached at -listen, through
// nginx and its njs.
//
// destroy deletes a stack. The stack's tables stay, and destroy prints their names; -tables also deletes the tables of
// a sandbox.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	commands := map[string]func(args []string) error{"guard": guardMain, "deployment": deploymentMain, "cdn": cdnMain,
		"destroy": destroyMain, "wall": wallMain, "templates": templatesMain, "stand-in": standInMain}
	err := errUsage
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		err = commands[os.Args[1]](os.Args[2:])
	}
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case err != nil:
		name := os.Args[1]
		if name == "guard" {
			name = os.Args[2] // the act
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
