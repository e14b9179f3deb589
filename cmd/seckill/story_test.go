package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// storyURL names, in the environment of a command of the story, the shop that it is for.
const storyURL = "SECKILL_STORY_URL"

// storyCommand is a command of the story, with the lines that it should print. A line of them that is "…" stands for
// any lines, and "…" within a line for any text.
type storyCommand struct {
	line    int // of the page
	command string
	prints  []string
}

// story reads a section of a page: the flags of its shop, and its commands in order.
func story(t *testing.T, file, of string) (flags []string, commands []storyCommand) {
	t.Helper()
	page, err := os.Open("../../" + file)
	must.OK(t, err)
	defer page.Close()
	section, block := "", ""
	for in, n := bufio.NewScanner(page), 1; in.Scan(); n++ {
		line := in.Text()
		last := len(commands) - 1
		switch {
		case block == "" && strings.HasPrefix(line, "## "):
			section = line
		case section != "## "+of:
		case strings.HasPrefix(line, "```"):
			block = strings.TrimPrefix(line, "```")
		case block == "sh":
			if made := regexp.MustCompile(`^make run ARGS="([^"]*)"`).FindStringSubmatch(line); made != nil {
				flags = strings.Fields(made[1])
			}
		case block != "console":
		case strings.HasPrefix(line, "$ "):
			commands = append(commands, storyCommand{line: n, command: line[2:]})
		case strings.HasPrefix(line, "> ") && last >= 0:
			commands[last].command += "\n" + line[2:]
		case last >= 0:
			commands[last].prints = append(commands[last].prints, line)
		}
	}
	return flags, commands
}

// wants returns what the output of a command has to match.
func (c *storyCommand) wants() *regexp.Regexp {
	want := "^"
	for _, line := range c.prints {
		if line == "…" {
			want += `(?:.*\n)*?`
		} else {
			want += strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + " *\n"
		}
	}
	return regexp.MustCompile(want + `\s*$`)
}

// TestSaleDay follows the sale day of docs/OPERATE.md as it is written.
func TestSaleDay(t *testing.T) {
	t.Parallel()
	if exec.Command("date", "-u", "-d", "+2 hours").Run() != nil {
		t.Skip("date is not the GNU one")
	}
	play(t, "docs/OPERATE.md", "A sale day", 20)
}

// TestFirstSale follows the first console of README.md as it is written.
func TestFirstSale(t *testing.T) {
	t.Parallel()
	play(t, "README.md", "Run a sale", 6)
}

// play plays a story of at least so many commands in one shell, against a fresh shop: each command succeeds and prints
// what the page says. On a machine that is too busy for its crowd the shop may warn that a message comes back.
func play(t *testing.T, file, section string, least int) {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "awk", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	flags, commands := story(t, file, section)
	if len(commands) < least {
		t.Fatalf("%s: %d commands of the story", file, len(commands))
	}
	log := startedLog(t, noEnv, func(printed string) {
		base, dir := find(t, printed, `(?m)^  S=(\S+)$`), t.TempDir()
		bin := filepath.Join(dir, "bin")
		tool := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", os.Args[0])
		must.OK(t, os.MkdirAll(bin, 0o700))
		must.OK(t, os.WriteFile(filepath.Join(bin, "seckill"), []byte(tool), 0o700))
		var script strings.Builder
		for _, c := range commands { // each ends with a line that a command does not print: its exit code
			script.WriteString(c.command + "\nprintf '\\n\\001%d\\n' $?\n")
		}
		shell := exec.CommandContext(t.Context(), "bash", "-c", "exec 2>&1\n"+script.String())
		shell.Dir, shell.WaitDelay = dir, time.Minute
		shell.Env = append(os.Environ(), "S="+base, "A="+find(t, printed, `(?m)^  A=(\S+)$`),
			"B="+find(t, printed, `(?m)^  B=(\S+)$`), storyURL+"="+base, "XDG_CONFIG_HOME="+dir,
			"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := shell.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		parts := regexp.MustCompile(`\n\x01\d+\n`).Split(string(out), -1)
		codes := regexp.MustCompile(`\n\x01(\d+)\n`).FindAllStringSubmatch(string(out), -1)
		for i, c := range commands {
			if i >= len(codes) {
				t.Fatalf("line %d: never run:\n%s", c.line, out)
			}
			code, _ := strconv.Atoi(codes[i][1])
			if text := strings.TrimRight(parts[i], "\n") + "\n"; code != exitOK || !c.wants().MatchString(text) {
				t.Errorf("%s:%d: $ %s\nexit %d\n%s\nthe page says\n%s", file, c.line, c.command, code, text,
					strings.Join(c.prints, "\n"))
			}
		}
	}, flags...)
	for line := range strings.Lines(log) {
		if !strings.Contains(line, `msg="message comes back"`) {
			t.Errorf("stderr %q", line)
		}
	}
}
