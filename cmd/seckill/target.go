package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/shared/seckill"
)

// target holds the flags that name a shop.
type target struct {
	url, stack, region, profile, role string
	urlFlag                           *pflag.Flag // nil before onURL
}

// aShop is the end of the help of a command that a shop executes.
const aShop = `

The shop is a running one ("seckill run", --url) or a stack on AWS (--stack), whose functions do the work
and log who gave the command. With --stack, the AWS credentials need sts:GetCallerIdentity,
cloudformation:DescribeStacks and execute-api:Invoke (docs/DEPLOY.md).`

// on adds the flags to a command and to its subcommands, and to its help what a shop is.
func (t *target) on(cmd *cobra.Command) {
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + aShop
	f := cmd.PersistentFlags()
	t.onURL(f)
	f.StringVar(&t.stack, "stack", "", "name of a deployed stack, instead of --url")
	t.onAWS(f.StringVar)
	f.StringVar(&t.role, "role", "", "with --stack: the role to act in (default the least that may)")
}

// onURL adds the flag of a running shop's address.
func (t *target) onURL(f *pflag.FlagSet) {
	f.StringVar(&t.url, "url", defaultURL, "address of a running shop; "+urlVariable+" sets the default")
	t.urlFlag = f.Lookup("url")
}

// onAWS adds the flags that say where AWS is.
func (t *target) onAWS(add func(to *string, name, value, usage string)) {
	add(&t.region, "region", "", "AWS region (default AWS_REGION, or the profile's)")
	add(&t.profile, "profile", "", "profile of the AWS configuration (default AWS_PROFILE, or the default profile)")
}

// running returns the running shop that the flags name.
func (t *target) running() (*runningShop, error) {
	name := "--url"
	if t.urlFlag != nil && !t.urlFlag.Changed && t.url != defaultURL {
		name = urlVariable
	}
	return newRunningShop(name, t.url)
}

// isDeployed reports whether the flags name a stack, and not an address.
func (t *target) isDeployed(cmd *cobra.Command) (bool, error) {
	given := cmd.Flags().Changed
	switch {
	case given("stack") && given("url"):
		return false, errors.New("--stack and --url contradict each other: give one of them")
	case given("role") && !seckill.ValidRole(seckill.Role(t.role)):
		return false, fmt.Errorf("--role %+.60q: want one of %v", t.role, seckill.Roles())
	case given("stack"):
		return true, nil
	case given("region"), given("profile"), given("role"):
		return false, errors.New("--region, --profile and --role only apply to a deployed stack: name it with --stack")
	}
	return false, nil
}

// sameShop returns the flags that lead another command to the same shop, each after a space.
func (t *target) sameShop() string {
	out, usual := "", defaultURL
	if t.urlFlag != nil {
		usual = t.urlFlag.DefValue // which SECKILL_URL may have set
	}
	for _, flag := range []struct{ name, value, not string }{{"url", t.url, usual}, {"stack", t.stack, ""},
		{"region", t.region, ""}, {"profile", t.profile, ""}} {
		if flag.value != flag.not {
			out += " --" + flag.name + " " + flag.value
		}
	}
	return out
}
