package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/doctor"
)

const (
	healthTimeout = 30 * time.Second // of GET /healthz: on a stand-in for AWS the function starts first
	maxCrowd      = 100_000_000
	maxWithin     = 24 * time.Hour
)

// doctorFlags are the flags of `seckill doctor`.
type doctorFlags struct {
	target
	crowd  int
	within time.Duration
	json   bool
}

func doctorCommand() *cobra.Command {
	var set doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a deployed stack before a sale: what is missing, off, full, late or too small",
		Long: `Check a deployed stack before a sale, and print a line for each part: ok, or what to do about
it. The checks cover the last deployment, the API, the CDN if there is one, each function, the roles
that you may take, Redis as the functions see it, clocks, secrets, schedules, triggers, alarms, queues and tables; with --crowd
also quotas.

The command changes nothing, except that each function handles an empty event, on which stage,
repair and refund do once more what they do each minute. The exit code is 0 if all is well, else 1.
A check without an answer, for lack of a right or because a stand-in for AWS does not support the
question, is reported as "?". It makes the exit code 1, too, unless AWS_ENDPOINT_URL is set, which
means a stand-in.

Rights: sts:GetCallerIdentity; cloudformation:DescribeStacks, cloudformation:ListStackResources (of
the CDN in us-east-1, too); lambda:GetAlias, lambda:GetFunctionConfiguration, lambda:InvokeFunction,
lambda:GetEventSourceMapping, lambda:GetAccountSettings; secretsmanager:GetSecretValue on P/*;
events:DescribeRule, events:ListTargetsByRule; cloudwatch:DescribeAlarms,
sns:ListSubscriptionsByTopic; sqs:GetQueueAttributes; dynamodb:DescribeTable,
dynamodb:DescribeTimeToLive, dynamodb:DescribeContinuousBackups; apigateway:GET on
/restapis/*/stages/live and /account (GetStage, GetAccount); execute-api:Invoke on
*/POST/operator/*.`,
		Example: `  seckill doctor --stack seckill-prod --region eu-central-1 --profile shop
  seckill doctor --stack seckill-prod --crowd 1000000 --within 60s
  seckill doctor --stack seckill-prod --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return set.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&set.stack, "stack", "", "name of the deployed stack")
	set.onAWS(f.StringVar)
	f.IntVar(&set.crowd, "crowd", 0, "expected number of shoppers, to check the quotas")
	f.DurationVar(&set.within, "within", 10*time.Second, "time within which they come")
	f.BoolVar(&set.json, "json", false, "print the result as JSON")
	return cmd
}

// examined is the result as --json prints it.
type examined struct {
	Stack    string           `json:"stack"`
	Region   string           `json:"region"`
	Healthy  bool             `json:"healthy"` // the exit code is 0
	Faults   int              `json:"faults"`
	Unasked  int              `json:"unasked"`
	Findings []doctor.Finding `json:"findings"`
}

func (d *doctorFlags) run(cmd *cobra.Command) error {
	switch {
	case d.crowd < 0 || d.crowd > maxCrowd:
		return fmt.Errorf("--crowd %d: want 0 to %d shoppers", d.crowd, maxCrowd)
	case d.within < time.Second || d.within > maxWithin:
		return fmt.Errorf("--within %v: want 1s to %v", d.within, maxWithin)
	}
	wait := waitingOn(cmd.ErrOrStderr())
	s, err := openStack(cmd.Context(), &d.target, wait)
	if err != nil {
		return err
	}
	standIn := aws.ToString(s.cfg.BaseEndpoint) != ""
	out := examined{Stack: d.stack, Region: s.region, Findings: []doctor.Finding{}}
	marks := map[doctor.State]string{doctor.OK: "ok", doctor.Fault: "FAULT", doctor.Unasked: "?"}
	doc := &doctor.Doctor{
		AWS: s.cfg, StandIn: standIn, Stack: s.found, As: s.as,
		HTTP:  &http.Client{Timeout: healthTimeout},
		Crowd: d.crowd, Within: d.within, During: wait.during,
		Explain: func(err error) string { return awsFault(err, s.region, "").Error() },
		Report: func(f doctor.Finding) {
			out.Findings = append(out.Findings, f)
			switch f.State {
			case doctor.Fault:
				out.Faults++
			case doctor.Unasked:
				out.Unasked++
			}
			if !d.json {
				fmt.Fprintf(cmd.OutOrStdout(), "%-5s  %-9s  %s\n", marks[f.State], f.Check, asCalled(f.Says))
			}
		},
	}
	if err := doc.Run(cmd.Context()); err != nil {
		return faultError{errors.New("interrupted")}
	}
	out.Healthy = out.Faults == 0 && (out.Unasked == 0 || standIn)
	if d.json {
		if err := writeJSON(cmd.OutOrStdout(), out); err != nil {
			return err
		}
	}
	summary := fmt.Sprintf("stack %s: %s, %d ok, %d unknown", d.stack,
		counted(out.Faults, "fault", "faults"), len(out.Findings)-out.Faults-out.Unasked, out.Unasked)
	switch {
	case !out.Healthy:
		return faultError{errors.New(summary)}
	case d.json:
		return nil
	}
	return say(cmd, "%s", summary)
}
