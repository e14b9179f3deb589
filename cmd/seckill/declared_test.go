package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
)

// TestCommandsAreInTheTool checks that each staff command's path leads to a subcommand, and that its example is right.
func TestCommandsAreInTheTool(t *testing.T) {
	root := rootCommand(os.Getenv)
	for _, c := range operator.All() {
		spec := c.Spec()
		if spec.Path == "" {
			continue
		}
		cmd, rest, err := root.Find(strings.Fields(spec.Path))
		if err != nil || len(rest) > 0 || cmd.Short == "" {
			t.Errorf("%s: no subcommand %q: %v", spec.Name, spec.Path, err)
		}
	}
	for _, name := range operator.Acts() {
		var e struct{ Operator json.RawMessage }
		if err := json.Unmarshal([]byte(operator.Sample(name)), &e); err != nil {
			t.Errorf("%s: %v", operator.Sample(name), err)
		}
	}
}

// TestAnswersWithoutWords checks that an answer for which there are no words is printed field by field, or as JSON.
func TestAnswersWithoutWords(t *testing.T) {
	for _, tt := range []struct{ answer, json, want string }{
		{`{"order":"o1","n":3}`, "false", "  n      3\n  order  o1\n"},
		{`true`, "false", "true\n"},
		{`{"order":"o1","n":3}`, "true", "{\n  \"order\": \"o1\",\n  \"n\": 3\n}\n"},
	} {
		var f shopFlags
		var out bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		cmd.Flags().String("json", tt.json, "")
		if err := f.say(cmd, nil, &operator.Redeliver{}, []byte(tt.answer)); err != nil || out.String() != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.answer, out.String(), err, tt.want)
		}
	}
}
