// Command template reads template.yaml and the templates that it opens. In: the files, in the folder above e2e. Out,
// on standard output: docs/IAM.md, the permissions of each function, from the policies.
//
// Its tests compare the templates with the code (tables, settings, routes, calls to AWS) and with our own rules;
// `make validate` runs them.
package main

import (
	"fmt"
	"os"
)

func main() {
	t, err := load(".")
	var out []byte
	if err == nil {
		out, err = iamPage(t)
	}
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "template: %v\n", err)
		os.Exit(1)
	}
}
