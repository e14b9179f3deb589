package main

import "testing"

// bounds has the number of arrows up that a package may have; for others it is most. If a package has fewer, lower
// its row.
var bounds = map[string]int{
	"proof/sim": 0,
}

const most = 4

func TestArrows(t *testing.T) {
	list, err := Load("../../...")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range list {
		bound, listed := bounds[p.Folder]
		if listed {
			seen++
		} else {
			bound = most
		}
		if len(p.Up) > bound || listed && len(p.Up) < bound {
			t.Errorf("%s: %d arrows between files go back up, want %d: go run ./infra/house arrows -v ./%s", p.Folder,
				len(p.Up), bound, p.Folder)
		}
	}
	if seen != len(bounds) {
		t.Errorf("%d of %d packages with a bound exist", seen, len(bounds))
	}
}

// TestFloors checks that a loop of three files has one arrow up, and none after its removal.
func TestFloors(t *testing.T) {
	for name, c := range map[string]struct {
		edges [][]bool
		want  int
	}{
		"a chain":          {[][]bool{{false, true, false}, {false, false, true}, {false, false, false}}, 0},
		"a loop":           {[][]bool{{false, true, false}, {false, false, true}, {true, false, false}}, 1},
		"both ways, twice": {[][]bool{{false, true, true}, {true, false, false}, {true, false, false}}, 2},
	} {
		if got := up(c.edges, floors(c.edges)); got != c.want {
			t.Errorf("%s: %d up, want %d", name, got, c.want)
		}
	}
}
