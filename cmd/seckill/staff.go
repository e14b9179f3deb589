package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

func staffCommand() *cobra.Command {
	var f shopFlags
	cmd := &cobra.Command{
		Use:   "staff",
		Short: "List and end the sign-ins of staff in browsers",
		Long: `List and end the sign-ins of staff in browsers. Whoever is signed in gives commands on the page
/admin. A role that somebody loses at the issuer is gone within 5 minutes; "end" does it at once.`,
		Example: `  seckill staff link                            sign a browser in to a running shop
  seckill staff sessions --stack seckill-prod
  seckill staff end id.example.com/9f3c --stack seckill-prod`,
	}
	return f.group(cmd, staffLinkCommand(&f))
}

func staffLinkCommand(f *shopFlags) *cobra.Command {
	var roles []string
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print a link that signs a browser in to a running shop's back office",
		Long: `Print a link that signs a browser in to the back office of a running shop ("seckill run"), with
every role or, to see what such staff see, with the roles of --role. It works once, within 15
minutes; an earlier link of the same person ends. --who names the person whom it signs in, such as
the second one of a refund. Staff of a stack sign in at the issuer of the company instead.`,
		Example: `  seckill staff link
  seckill staff link --who ben
  seckill staff link --who eve --role viewer`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deployed, err := f.isDeployed(cmd); err != nil || deployed {
				return cmp.Or(err, errors.New("link is for a running shop: staff of a stack sign in at its issuer"))
			}
			s, err := f.running()
			if err != nil {
				return err
			}
			body, err := json.Marshal(map[string]any{"who": f.who, "roles": roles})
			if err != nil {
				return err
			}
			answer, err := s.call(cmd.Context(), "/_local/staff-link", body)
			if err != nil {
				return s.shop().explain(err, "")
			}
			var out struct {
				Link string `json:"link"`
			}
			if json.Unmarshal(answer, &out) != nil || out.Link == "" {
				return faultError{fmt.Errorf("%s: %w", s.base, operator.ErrAnswer)}
			}
			return f.print(cmd, nil, &out, func(p *page) { p.line("%s", out.Link) })
		},
	}
	cmd.Flags().StringSliceVar(&roles, "role", nil,
		"roles that it gives, separated by commas: "+session.RoleNames(seckill.Roles()))
	cmd.Flags().StringVar(&f.who, "who", "", "whom it signs in, up to 64 characters (default \"local\")")
	return cmd
}

// sessions prints who is signed in.
func (p *page) sessions(out *operator.Sessions) {
	if len(out.Sessions) == 0 {
		p.line("Nobody is signed in.")
		return
	}
	p.row("who", "name", "roles", "since", "confirmed", "until")
	for _, s := range out.Sessions {
		p.row(s.Who, s.Name, session.RoleNames(s.Roles), at(s.Began), at(s.Confirmed), at(s.Ends))
	}
	if out.More {
		p.line("There are more.")
	}
}
