package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
)

// TestActivitiesOfARunningShop goes through an activity's life with the tool, and looks at the pages beside.
func TestActivitiesOfARunningShop(t *testing.T) {
	t.Parallel()
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		run := func(code int, stdout, stderr string, args ...string) string {
			t.Helper()
			gotCode, out, errs := command(t, append(append([]string{"activities"}, args...), "--url", base)...)
			if gotCode != code || !strings.Contains(out, stdout) || !strings.Contains(errs, stderr) {
				t.Errorf("activities %v: exit %d\n%s%s\nwant exit %d, %q, %q", args, gotCode, out, errs, code, stdout,
					stderr)
			}
			return out
		}
		start := time.Now().Add(-48 * time.Hour).UTC().Truncate(time.Second)
		file := operator.ActivityFile{ID: "7001", Title: "Early <birds>", Start: start, End: start.Add(96 * time.Hour),
			Items: []string{"2002", "2003"}}
		saved := func(change func(*operator.ActivityFile)) string {
			f := file
			change(&f)
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			return written(t, "a.json", b)
		}
		same := func(*operator.ActivityFile) {}
		run(exitOK, "No activities.", "", "list")
		run(exitOK, "Activity 7001 is saved (online, from ", "", "save", saved(same))
		run(exitOK, "Nothing to do: activity 7001 is online, at version 1.", "", "save", saved(same))
		exported := run(exitOK, `"version": 1`, "", "show", "7001", "--file")
		run(exitOK, "Activity 7001 is saved", "", "save",
			written(t, "b.json", []byte(strings.Replace(exported, "birds", "Birds", 1))))
		run(exitUsage, "", "somebody has changed activity 7001 since version 1, which this was made from: it is at "+
			"version 2, with another title (seckill activities show 7001 --file): redo the change in it, or give "+
			"--overwrite", "save", saved(func(f *operator.ActivityFile) { f.Version, f.Title = 1, "x" }))
		run(exitOK, "version 3", "", "save", "--overwrite", saved(same))
		run(exitOK, "an item on sale stays", "", "show", "7001")
		run(exitOK, "7001  online", "", "list")
		run(exitUsage, "", "on sale now: 2002: stop them first", "delete", "7001")
		run(exitOK, "Activity 7001 is offline, 2 items stopped", "", "offline", "7001")
		run(exitOK, "Nothing to do: activity 7001 is offline, at version 4.", "", "offline", "7001")
		run(exitOK, "Activity 7001 is online, 2 items resumed", "", "online", "7001")
		shows(t, step{"items stop 2003 --url " + base, exitOK, "", ""})
		run(exitOK, "Activity 7001 is offline, 1 item stopped", "", "offline", "7001")
		run(exitOK, "Still stopped, as the activity did not stop them: 2003.", "", "online", "7001")
		run(exitOK, "Nothing to do: activity 7001 is online", "", "online", "7001")
		shows(t, step{"items resume 2003 --url " + base, exitOK, "", ""})
		copied := run(exitOK, "made, a copy of 7001, with 2 items (waiting, from ", "", "copy", "7001")
		id := find(t, copied, `Activity (\d{18}) is made`)
		run(exitOK, "Nothing to do: activity "+id+" is waiting", "", "copy", "7001")
		run(exitUsage, "", "the copy must begin in the future", "copy", "7001", "--start", "2020-01-01T00:00:00Z")
		run(exitOK, "Activity "+id+" is deleted", "", "delete", id)
		if out := run(exitOK, "7001", "", "list"); strings.Contains(out, id) {
			t.Errorf("a deleted one is listed: %s", out)
		}
		run(exitOK, id+"  deleted", "", "list", "--all")
		run(exitOK, "Activity "+id+" is back", "", "undelete", id)
		for _, verb := range []string{"show", "copy", "delete", "undelete", "offline", "online"} {
			run(exitUsage, "", "activity 404: "+base+" has no such activity", verb, "404")
			run(exitUsage, "", "1 to 19 digits", verb, "x")
		}
		for _, want := range []string{"version=3 offline=false deleted=false", "version=4 offline=true deleted=false",
			"activity=7001 start="} {
			shows(t, step{"audit list --url " + base, exitOK, want, ""})
		}
	})
}

// TestActivityFilesThatAreRefused: nothing is sent.
func TestActivityFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "EOF",
		"[]":                                    "want an object with id",
		`{"id":"7001","titel":"x"}`:             `unknown field "titel"`,
		`{"id":"7001","start_time":"tomorrow"}`: "parsing time",
		`{"id":"07"}`:                           "want an id of 1 to 19 digits",
		`{"id":"7001"}{}`:                       "something follows the object",
		strings.Repeat(" ", 1<<17):              "larger than 64 KiB",
	} {
		refused(t, exitUsage, want, "activities", "save", written(t, "a.json", []byte(text)))
	}
}
