package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/your-org/seckill/cmd/seckill/office"
	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// eyes finds a shop in which refunds need two people and one person may count as two (ADR 43): AWS does not know people
// by the sub that an issuer gives them.
func (c *check) eyes() {
	limited := strings.ContainsAny(c.parameters["RefundAlone"], "123456789")
	claims := strings.Split(c.parameters["StaffClaims"], "|")
	if limited && c.parameters["StaffIssuer"] != "" && len(claims) > 2 && claims[2] == oidc.DefaultWho {
		c.fault("refunds take two people, and StaffClaims names staff in a browser by sub, which AWS does not: who " +
			"has finance in both ways counts as two. Name a claim that is the session's name in AWS, " +
			"docs/DEPLOY.md says how")
	}
}

// office asks the back office for the functions' health in each role: nothing else tells which roles IAM lets the
// caller take. It keeps the answer for the checks of Redis and of clocks.
func (d *Doctor) office(ctx context.Context, c *check) {
	c.eyes()
	var may, mayNot []string
	for _, role := range seckill.Roles() {
		client := d.As(role)
		_, err := operator.Give[operator.Health](ctx, &client, &operator.ReadHealth{})
		var failed *office.Error
		var refused *operator.Refusal
		switch {
		case err == nil, errors.As(err, &refused) && refused.Code == seckill.CodeUnavailable:
			may = append(may, string(role))
			if d.role == "" {
				d.role = role
			}
		case errors.As(err, &failed) && failed.Kind == office.Denied:
			mayNot = append(mayNot, string(role))
		case errors.As(err, &failed) && failed.Kind == office.NoRoute:
			c.fault("the stack takes no commands: its release has no back office, deploy this one")
			return
		default:
			c.unasked("the back office as "+string(role), err)
			return
		}
	}
	switch {
	case len(may) == 0:
		c.fault("your AWS identity may take no role of the back office: ask for a policy, docs/DEPLOY.md has them")
	case len(mayNot) == 0:
		c.ok("your AWS identity may take each role of the back office: %s", strings.Join(may, ", "))
	default:
		c.ok("your AWS identity may take these roles of the back office: %s; not %s", strings.Join(may, ", "),
			strings.Join(mayNot, ", "))
	}
}
