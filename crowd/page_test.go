package crowd

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPageIsTheStorefronts compares the waits of --pages with those of the page that shoppers have.
func TestPageIsTheStorefronts(t *testing.T) {
	t.Parallel()
	core, err := os.ReadFile("../web/src/core.js")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]time.Duration{"LOOK_NEAR": lookNear, "LOOK_FAR": lookFar, "SPREAD": lookSpread} {
		m := regexp.MustCompile(`(?m)^export const ` + name + ` = ([0-9_]+);`).FindSubmatch(core)
		if m == nil {
			t.Errorf("core.js has no %s", name)
			continue
		}
		ms, err := strconv.Atoi(strings.ReplaceAll(string(m[1]), "_", ""))
		if err != nil || time.Duration(ms)*time.Millisecond != want {
			t.Errorf("%s is %s ms in core.js, %v here", name, m[1], want)
		}
	}
}
