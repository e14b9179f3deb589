package seckill_test

import (
	"path"
	"strings"
	"testing"
)

// rooms are the folders that docs/ARCHITECTURE.md draws, upper ones first, with what each is for. Left out are those
// that only tests, builds and examples use.
var rooms = [][2]string{
	{"cmd", "command line tool"}, {"functions", "Lambda functions"}, {"local", "one process"},
	{"proof", "simulator, audit, crowd"}, {"infra", "plan, deployment"}, {"web", "pages"},
	{"shared/app", "which ports each step uses"}, {"shared/api", "HTTP, commands, tokens"},
	{"shared/flow", "decisions"}, {"shared/fake", "stand-ins"}, {"shared/driver", "the world outside"},
	{"shared/seckill", "nouns, rules, ports"},
}

// TestArchitectureDrawsTheHouse: arrows between rooms lead down, and docs/ARCHITECTURE.md draws them, without those
// that a path through a third room implies; -update writes the drawing.
func TestArchitectureDrawsTheHouse(t *testing.T) {
	level := map[string]int{}
	for i, room := range rooms {
		level[room[0]] = i
	}
	roomOf := func(folder string) (int, bool) {
		for ; folder != "."; folder = path.Dir(folder) {
			if i, is := level[folder]; is {
				return i, true
			}
		}
		return 0, false
	}
	arrows := make([][]bool, len(rooms))
	for i := range arrows {
		arrows[i] = make([]bool, len(rooms))
	}
	for file, f := range files(t, ".") {
		from, drawn := roomOf(path.Dir(file))
		for _, imported := range imports(f) {
			folder, ours := strings.CutPrefix(imported, modulePath)
			to, known := roomOf(folder)
			if drawn && ours && known && from != to {
				arrows[from][to] = true
				if to < from {
					t.Errorf("%s imports %s: the arrow goes up", file, folder)
				}
			}
		}
	}
	drawing := "```mermaid\nflowchart TD\n"
	for i, room := range rooms {
		drawing += "  " + path.Base(room[0]) + "[\"" + room[0] + "<br>" + room[1] + "\"]\n"
		for k := range rooms {
			if arrows[i][k] && !detour(arrows, i, k) {
				drawing += "  " + path.Base(room[0]) + " --> " + path.Base(rooms[k][0]) + "\n"
			}
		}
	}
	generatedPart(t, "docs/ARCHITECTURE.md", "rooms", drawing+"```\n")
}

// detour reports whether a path leads from one room to another through a third. Arrows lead down, so the search ends.
func detour(arrows [][]bool, from, to int) bool {
	for via := from + 1; via < to; via++ {
		if arrows[from][via] && (arrows[via][to] || detour(arrows, via, to)) {
			return true
		}
	}
	return false
}
