// Command template reads template.yaml and the templates that it opens. In: the files, in this folder, as SAM's own
// code evaluates them (sam.py). Out, on standard output: docs/IAM.md, the permissions of each function, from the
// policies.
//
// Its tests compare the templates with the code (tables, settings, routes, calls to AWS) and with our own rules.
// `make validate` runs all, `make test` those that read only a file's text.
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	if err := writePage(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "template: %v\n", err)
		os.Exit(1)
	}
}

func writePage(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s, err := startSAM(ctx, ".")
	if err != nil {
		return err
	}
	t, err := s.deploy(everything)
	if err != nil {
		return err
	}
	out, err := iamPage(t)
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	return err
}
