//go:build slips

package seckill_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var play = flag.String("play", "all", "`slips` to play in TestSlipsAreNoticed: all, a number of them, or a part of a row's name")
var draw = flag.String("draw", "", "any `text` that decides which slips a number draws")

// chosen returns the slips that -play asks for.
func chosen(all []slip) []slip {
	n := 0
	if _, err := fmt.Sscan(*play, &n); err == nil {
		turn := func(s slip) uint64 {
			h := fnv.New64a()
			fmt.Fprint(h, *draw, s)
			return h.Sum64()
		}
		slices.SortFunc(all, func(a, b slip) int { return cmp.Compare(turn(a), turn(b)) })
		return all[:min(n, len(all))]
	}
	return slices.DeleteFunc(all, func(s slip) bool { return *play != "all" && !strings.Contains(s.row, *play) })
}

// TestSlipsAreNoticed makes each change in a copy of the module and sees its tests fail, which pass without the change.
// `make slips` plays it.
func TestSlipsAreNoticed(t *testing.T) {
	all, _ := slips(t)
	all = chosen(all)
	root := t.TempDir()
	for _, file := range strings.Split(strings.TrimRight(run(t, ".", "git", "ls-files", "-z"), "\x00"), "\x00") {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // deleted, and not yet committed
		}
		write(t, filepath.Join(root, file), string(text))
		if i, err := os.Stat(file); err == nil && i.Mode()&0o100 != 0 {
			_ = os.Chmod(filepath.Join(root, file), 0o755)
		}
	}
	for _, s := range all {
		if out, failed := s.run(t, root); len(failed) > 0 {
			t.Fatalf("without a change %s %v fail:\n%s", s.folder, failed, out)
		}
	}
	for _, s := range all {
		undo := s.apply(t, root)
		s.generate(t, root)
		out, failed := s.run(t, root)
		undo()
		s.generate(t, root)
		t.Logf("%s: %s %v", s.row, s.folder, failed)
		if !slices.Equal(failed, s.tests) {
			t.Errorf("%s: %q\nof %s %v only %v notice:\n%s", s.row, s.edits, s.folder, s.tests, failed, out)
		}
	}
}

// run returns which of the slip's tests fail in a copy of the module.
func (s *slip) run(t *testing.T, root string) (out string, failed []string) {
	t.Helper()
	script := strings.HasSuffix(s.tests[0], ".mjs")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-tags", "sam",
		"-run", "^("+strings.Join(s.tests, "|")+")$", ".")
	if script {
		cmd = exec.CommandContext(t.Context(), "node", append([]string{"--test"}, s.tests...)...)
	}
	cmd.Dir = filepath.Join(root, s.folder)
	text, err := cmd.CombinedOutput()
	if err == nil {
		return string(text), nil
	}
	for _, test := range s.tests {
		mark := "--- FAIL: " + test + " "
		if script {
			mark = "not ok "
		} else if test == "compiler" {
			mark = "[build failed]"
		}
		if strings.Contains(string(text), mark) {
			failed = append(failed, test)
		}
	}
	return string(text), failed
}

// generate runs the slip's command in a copy of the module.
func (s *slip) generate(t *testing.T, root string) {
	t.Helper()
	if s.after != nil {
		run(t, root, s.after[0], s.after[1:]...)
	}
}
