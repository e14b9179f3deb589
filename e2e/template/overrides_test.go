//go:build sam

package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// samParser reads --parameter-overrides as the SAM CLI does.
const samParser = `import json, sys
from samcli.cli.types import CfnParameterOverridesType
print(json.dumps(CfnParameterOverridesType().convert(tuple(sys.argv[1:]), None, None)))`

// TestOverridesReachSAMWhole checks that a parameter of samconfig.toml with spaces, quotes or backslashes arrives as it
// is written: SAM's own parser ends a plain value at a space.
func TestOverridesReachSAMWhole(t *testing.T) {
	want := map[string]string{"Contact": "400 123 4567", "StaffClaims": `groups|a b|sub|openid "x" email`,
		"WebhookUrl": `https://erp.example.com/a\b`, "Plan": "BuyRate=1000,BuyBurst=200"}
	var more []string
	for name, value := range want {
		if name != "Plan" {
			more = append(more, "  \""+name+"="+value+"\",\n")
		}
	}
	told := deployer(t, more...)("OVERRIDES=Plan=BuyRate=1000,BuyBurst=200")
	overrides := told[slices.Index(told, "--parameter-overrides")+1:]
	cmd := exec.CommandContext(t.Context(), samPython(t), "-c", samParser)
	cmd.Args = append(cmd.Args, overrides...)
	out := must.Get(cmd.Output())
	var got map[string]string
	must.OK(t, json.Unmarshal(out, &got))
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s arrives as %q, want %q", name, got[name], value)
		}
	}
	if len(got) != len(overrides) {
		t.Errorf("%d parameters of %d arrive: %v", len(got), len(overrides), overrides)
	}
}
