//go:build real

package bus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestTheLibraryForNodeVerifies(t *testing.T) {
	t.Parallel()
	check(t, func(secret string, p posted) error {
		headers := map[string]string{}
		for name := range p.Header {
			headers[strings.ToLower(name)] = p.Header.Get(name)
		}
		line, err := json.Marshal(map[string]any{"secret": secret, "headers": headers, "body": string(p.Body)})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", "verify.mjs")
		cmd.Dir = "../../../e2e/webhooks"
		cmd.Stdin = bytes.NewReader(append(line, '\n'))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s (run e2e/webhooks/install.sh)", err, out)
		}
		if said := strings.TrimSpace(string(out)); said != "ok" {
			return errors.New(said)
		}
		return nil
	})
}
