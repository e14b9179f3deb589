package main

import (
	"fmt"

	"github.com/your-org/seckill/cmd/seckill/secrets"
)

// salts stores the secret of salts of a key of reports, if given.
func (p *keyPlan) salts() error {
	if p.theirs.salts == nil {
		return nil
	}
	switch name, value := secrets.ReportSalts, p.theirs.salts.Text(); {
	case p.have[name] == value:
		p.steps = append(p.steps, keyStep{name: name, said: "exists, with this value"})
	case p.have[name] != "" && !p.rotates(name):
		return fmt.Errorf("%s exists, of another key: replace it with --rotate=%s", name, name)
	default:
		p.put(name, value, "the secret of salts of "+p.theirs.salts.Verifier)
	}
	return nil
}
