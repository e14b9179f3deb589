package crowd

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPageIsTheStorefronts compares the waits of --pages with the waits of the storefront's page.
func TestPageIsTheStorefronts(t *testing.T) {
	t.Parallel()
	var page []byte
	for _, file := range []string{"core.js", "push.js"} {
		text, err := os.ReadFile("../../web/src/" + file)
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, text...)
	}
	for name, want := range map[string]time.Duration{"LOOK_NEAR": lookNear, "LOOK_FAR": lookFar, "SPREAD": lookSpread,
		"SAFETY": safetyPoll, "RUSH": rush, "PATIENCE": patience,
		"CAUGHT_UP": caughtUp} {
		m := regexp.MustCompile(`(?m)^export const ` + name + ` = ([0-9_]+);`).FindSubmatch(page)
		if m == nil {
			t.Errorf("the page has no %s", name)
			continue
		}
		ms, err := strconv.Atoi(strings.ReplaceAll(string(m[1]), "_", ""))
		if err != nil || time.Duration(ms)*time.Millisecond != want {
			t.Errorf("%s is %s ms in the page, %v here", name, m[1], want)
		}
	}
}
