//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/your-org/seckill/proof/audit"
)

// how returns how many shoppers ended in any of these ways.
func (l *loadReport) how(names ...string) (n int) {
	for _, o := range l.Outcomes {
		if slices.Contains(names, o.Name) {
			n += o.Count
		}
	}
	return n
}

func (r *result) outcome() string {
	l := &r.load
	return fmt.Sprintf("%d shoppers in %.0f s: %d placed, %d accepted, %d sold out, %d rejected, %d refused, %d failed",
		l.Arrived, r.crowdTook.Seconds(), l.how("placed"), l.how("accepted"),
		l.how("sold_out"), l.how("rejected"), l.how("refused"), l.how("failed", "broken_off"))
}

// audit runs `seckill audit` on the drill's sale.
func (s *shared) audit(ctx context.Context, w *rig, r *result) {
	path := filepath.Join(w.dir, "audit.json")
	err := s.tool(ctx, path, filepath.Join(w.dir, "audit.log"), "audit", "--item", item, "--dynamodb", w.dynamo.addr,
		"--prefix", w.prefix(), "--redis", w.redis.addr,
		"--journal", w.journal(), "--json")
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.fail(err)
		return
	}
	if unread := read(path, &r.audit); unread != nil {
		r.fail(fmt.Errorf("seckill audit: %w", errors.Join(err, unread)))
		return
	}
	if len(r.audit.Results) == 0 {
		r.fail(errors.New("seckill audit judged nothing"))
	}
	broken := false
	for i := range r.audit.Results {
		switch j := &r.audit.Results[i]; j.Verdict {
		case audit.Broken:
			broken = true
			r.fail(fmt.Errorf("%s %s is broken, %d times: %v", j.ID, j.Name, j.Count,
				j.Findings[:min(len(j.Findings), 3)]))
		case audit.Unknown:
			if slices.Contains(untouched, j.ID) || w.strangers && j.ID == "I9" { // the journal is the crowd's alone
				continue
			}
			r.fail(fmt.Errorf("%s %s is unknown: %s", j.ID, j.Name, strings.Join(j.Needs, "; ")))
		}
	}
	if err != nil && !broken {
		r.fail(fmt.Errorf("seckill audit: %w", err))
	}
}

// untouched are the guarantees of which a drill's rows say nothing: its item has no checks, and nobody is blocked.
var untouched = []string{"A1", "A4"}

// verdict summarises the audit.
func (r *result) verdict() string {
	holds := 0
	for i := range r.audit.Results {
		if r.audit.Results[i].Verdict == audit.Holds {
			holds++
		}
	}
	return fmt.Sprintf("%d of %d hold", holds, len(r.audit.Results))
}

// table prints the results of all drills.
func table(w io.Writer, results []*result) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t,
		"drill\tplaced\tsold out\trejected\trefused\tfailed\tunits sold\taudit\tseconds\tfaults that landed")
	for _, r := range results {
		l := &r.load
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%.0f\t%s\n", r.name, l.how("placed", "accepted"),
			l.how("sold_out"), l.how("rejected"), l.how("refused"),
			l.how("failed", "broken_off"), r.audit.Statement.Units.Sold, r.verdict(), r.took.Seconds(), r.landed)
	}
	_ = t.Flush()
	for _, r := range results {
		for _, p := range r.problems {
			fmt.Fprintf(w, "%s FAILED: %s\n", r.name, p)
		}
	}
}
