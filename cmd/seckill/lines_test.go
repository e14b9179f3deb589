package main

import (
	"strings"
	"testing"
)

// step is a command line and its expected output. Blanks separate the words of a line; ~ stands for a blank in a
// word, and "" for an empty word.
type step struct {
	line   string
	code   int
	stdout string
	stderr string
}

func words(line string) []string {
	out := strings.Fields(line)
	for i, w := range out {
		out[i] = strings.ReplaceAll(strings.ReplaceAll(w, `""`, ""), "~", " ")
	}
	return out
}

// try checks that each step prints its texts; the names in changing stand for parts that differ between runs.
func try(t *testing.T, steps ...step) {
	t.Helper()
	prints := func(got, want string) bool { return got == want || same(got) == want }
	for _, s := range steps {
		code, stdout, stderr := command(t, words(s.line)...)
		if code != s.code || !prints(stdout, s.stdout) || !prints(stderr, s.stderr) {
			t.Errorf("%s: exit %d\n%s%swant exit %d\n%s%s", s.line, code, stdout, stderr, s.code, s.stdout, s.stderr)
		}
	}
}

// shows checks that each step prints its texts among others. A refused command prints nothing on stdout.
func shows(t *testing.T, steps ...step) {
	t.Helper()
	for _, s := range steps {
		code, stdout, stderr := command(t, words(s.line)...)
		if code != s.code || !strings.Contains(stdout, s.stdout) || !strings.Contains(stderr, s.stderr) ||
			code == exitUsage && stdout != "" {
			t.Errorf("%s: exit %d\n%s%s\nwant exit %d, %q, %q", s.line, code, stdout, stderr, s.code, s.stdout,
				s.stderr)
		}
	}
}

// refuses checks that each command line, put in place of a star, is refused with the text beside it.
func refuses(t *testing.T, code int, star string, lines [][2]string) {
	t.Helper()
	for _, l := range lines {
		refused(t, code, l[1], words(strings.Replace(star, "*", l[0], 1))...)
	}
}

// refused checks that a command prints nothing on stdout, and on stderr one line with a text.
func refused(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := command(t, args...)
	if got != code || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%q: exit %d\n%s%s\nwant exit %d and one line with %q", args, got, stdout, stderr, code, want)
	}
}
