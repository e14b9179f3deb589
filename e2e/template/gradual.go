package main

import (
	"bytes"
	"errors"
)

// What the variant changes: each old text stands in template.yaml, and the last of them once for each function behind the API.
var changes = []struct {
	old, new string
	often    bool
}{
	{old: "    Default: \"false\"\n    AllowedPattern: ^false$ # the variant: true\n", new: "    Default: \"true\"\n    AllowedPattern: ^true$\n"},
	{old: "    # The variant has an alias here.\n", new: `    AutoPublishAlias: live
    DeploymentPreference:
      Type: Canary10Percent5Minutes
      PassthroughCondition: true # none for the gateway where there is no sandbox
      Alarms: [!Ref ApiFaultsAlarm]
`},
	{old: "      # The variant has instances that wait here.\n", new: "      ProvisionedConcurrencyConfig: !If [BuyWaits, {ProvisionedConcurrentExecutions: !Ref BuyProvisioned}, !Ref AWS::NoValue]\n"},
	{old: "Conditions:\n  IsSandbox", new: "Conditions:\n  BuyWaits: !Not [!Equals [!Ref BuyProvisioned, 0]]\n  IsSandbox"},
	{old: "/invocations\"\n", new: ":live/invocations\"\n", often: true},
}

// gradual makes template-gradual.yaml.
func gradual(text []byte) ([]byte, error) {
	for _, c := range changes {
		n := bytes.Count(text, []byte(c.old))
		if n == 0 || n > 1 && !c.often {
			return nil, errors.New("template.yaml has not once: " + c.old)
		}
		text = bytes.ReplaceAll(text, []byte(c.old), []byte(c.new))
	}
	return append([]byte("# Made from template.yaml by `go run ./e2e/template gradual`.\n"), text...), nil
}
