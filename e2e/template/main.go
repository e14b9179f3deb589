// Command template reads template.yaml. In: the file, in the folder above e2e. Out, on standard output:
//
//	template           docs/IAM.md: what each function may do, taken from the policies
//	template gradual   template-gradual.yaml: the variant that shifts traffic to a new release step by step
//
// Its tests hold the template to the code (tables, settings, routes, calls to AWS) and to our own rules; `make validate` runs them.
//
// The variant publishes a version of each function behind an alias, and CodeDeploy moves a tenth of the traffic to a new one, and the rest five
// minutes later, unless the API's alarm rings. It is made from the same file, because SAM takes an alias only as a fixed name, not under a
// condition, and because a second deploy of an alias breaks LocalStack.
package main

import (
	"fmt"
	"os"
)

func main() {
	t, err := load(".", "template.yaml")
	var out []byte
	switch {
	case err != nil:
	case len(os.Args) == 1:
		out, err = iamPage(t)
	case len(os.Args) == 2 && os.Args[1] == "gradual":
		out, err = gradual(t.text)
	default:
		err = fmt.Errorf("want no argument, or gradual")
	}
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "template: %v\n", err)
		os.Exit(1)
	}
}
