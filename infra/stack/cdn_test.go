package main

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/google/go-cmp/cmp"
)

// TestParametersOf: a stack's parameter that is not set keeps its value, if the template still has it.
func TestParametersOf(t *testing.T) {
	found := &types.Stack{Parameters: []types.Parameter{{ParameterKey: aws.String("Set")},
		{ParameterKey: aws.String("Kept")}, {ParameterKey: aws.String("Gone")}}}
	for name, c := range map[string]struct {
		has  *types.Stack
		want map[string]bool // whether a parameter keeps its value
	}{
		"a new stack":      {nil, map[string]bool{"Set": false}},
		"a stack's update": {found, map[string]bool{"Set": false, "Kept": true}},
	} {
		all, err := parametersOf(map[string]string{"Set": "x"}, c.has, "Parameters: {Set: {Type: S}, Kept: {Type: S}}")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, p := range all {
			got[aws.ToString(p.ParameterKey)] = aws.ToBool(p.UsePreviousValue)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s, want (-), got (+):\n%s", name, diff)
		}
	}
}
