package sim

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestRegressions plays histories that once revealed a bug in the flows.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob("testdata/seeds/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var h History
		if err := json.Unmarshal(b, &h); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(h.Acts) == 0 || h.Found == "" {
			t.Errorf("%s does nothing, or says not what for", file)
		}
		if r := Replay(h.Plan, h.Acts); r.Err != nil {
			t.Errorf("%s, which once showed %s: %v", file, h.Found, r.Err)
		}
	}
}

// TestHistoryIsKeptWhole checks that a history read from a file leaves the same trace.
func TestHistoryIsKeptWhole(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		a := Play(seed, Options{}, false)
		b, err := json.Marshal(a.History())
		if err != nil {
			t.Fatal(err)
		}
		var h History
		if err := json.Unmarshal(b, &h); err != nil {
			t.Fatal(err)
		}
		if again := Replay(h.Plan, h.Acts); !bytes.Equal(a.Trace(), again.Trace()) {
			t.Errorf("seed %d leaves another trace after it went through a file", seed)
		}
	}
}
