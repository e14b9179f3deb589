package doctor

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/your-org/seckill/infra/plan"
)

// Run does all checks. It ends early only with its context.
func (d *Doctor) Run(ctx context.Context) error {
	d.outputs, d.parameters = map[string]string{}, map[string]string{}
	for _, o := range d.Stack.Outputs {
		d.outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	for _, p := range d.Stack.Parameters {
		d.parameters[aws.ToString(p.ParameterKey)] = aws.ToString(p.ParameterValue)
	}
	maps.Copy(d.parameters, plan.Numbers(func(name string) string { return d.parameters[name] }))
	for _, c := range []struct {
		name string
		look func(context.Context, *check)
	}{
		{"door", d.door}, {"stack", d.stack},
		{"api", d.api}, {"cdn", d.cdn}, {"functions", d.functions},
		{"office", d.office}, {"redis", d.redis}, {"clocks", d.clocks},
		{"secrets", d.secrets}, {"sign-in", d.signIn}, {"schedules", d.schedules},
		{"triggers", d.triggers}, {"alarms", d.alarms}, {"queues", d.queues}, {"tables", d.tables},
		{"quotas", d.quotas},
	} {
		_ = d.During("check "+c.name, func() error {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			c.look(ctx, &check{c.name, d})
			return nil
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
