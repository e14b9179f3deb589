package main

import (
	"flag"
	"fmt"
	"go/types"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// printArrows prints, for each package, how many arrows between its files go back up.
//
// A file has an arrow to another file of its package if it uses a name declared there: a function, a type, a method,
// a field, a variable or a constant. Arrows that go back up are the fewest whose removal leaves no loop of files, as
// far as a search that moves one file at a time finds them. Test files do not count.
func printArrows(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("arrows", flag.ExitOnError)
	verbose := flags.Bool("v", false, "also print each arrow that goes back up, and the names it uses")
	_ = flags.Parse(args)
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	list, err := Load(patterns...)
	if err != nil {
		return err
	}
	total := 0
	for _, p := range list {
		total += len(p.Up)
		if len(p.Up) == 0 {
			continue
		}
		fmt.Fprintf(w, "%4d up of %3d arrows, %2d files  %s\n", len(p.Up), p.Arrows, p.Files, p.Folder)
		for _, a := range p.Up {
			if *verbose {
				fmt.Fprintf(w, "       %s -> %s: %s\n", a.From, a.To, strings.Join(a.Names, " "))
			}
		}
	}
	fmt.Fprintf(w, "%4d up in %d packages\n", total, len(list))
	return nil
}

// Package has the counts of one package.
type Package struct {
	Folder        string // relative to the module's root
	Files, Arrows int
	Up            []Arrow
}

// Arrow leads from a file that uses names to the file that declares them.
type Arrow struct {
	From, To string
	Names    []string
}

// Load analyses the packages that match the patterns of the go command.
func Load(patterns ...string) ([]Package, error) {
	config := &packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule}
	loaded, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, err
	}
	var out []Package
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		out = append(out, countArrows(p))
	}
	return out, nil
}

func countArrows(p *packages.Package) Package {
	file := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	uses := map[string]map[string]map[string]bool{} // from, to, names
	for id, o := range p.TypesInfo.Uses {
		from := filepath.Base(p.Fset.Position(id.Pos()).Filename)
		if o.Pkg() != p.Types || !o.Pos().IsValid() || file(o) == from {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]map[string]bool{}
		}
		if uses[from][file(o)] == nil {
			uses[from][file(o)] = map[string]bool{}
		}
		uses[from][file(o)][o.Name()] = true
	}
	out := Package{Folder: strings.TrimPrefix(p.PkgPath, p.Module.Path+"/"), Files: len(p.GoFiles)}
	var files []string
	for _, f := range p.GoFiles {
		files = append(files, filepath.Base(f))
	}
	slices.Sort(files)
	at := map[string]int{}
	for i, f := range files {
		at[f] = i
	}
	edges := make([][]bool, len(files))
	for i, f := range files {
		edges[i] = make([]bool, len(files))
		for to := range uses[f] {
			edges[i][at[to]] = true
			out.Arrows++
		}
	}
	order := floors(edges)
	floor := make([]int, len(files))
	for at, f := range order {
		floor[f] = at
	}
	for i, f := range files {
		for _, to := range slices.Sorted(maps.Keys(uses[f])) {
			if floor[at[to]] > floor[i] {
				out.Up = append(out.Up, Arrow{f, to, slices.Sorted(maps.Keys(uses[f][to]))})
			}
		}
	}
	return out
}

// floors orders the files from the bottom up so that few arrows go back up: the better of two searches. One begins with
// the files that use the fewest others, the other with those that reach the fewest, which without loops has no arrow
// up.
func floors(edges [][]bool) []int {
	uses, reaches := make([]int, len(edges)), make([]int, len(edges))
	for i := range edges {
		seen := make([]bool, len(edges))
		reach(edges, i, seen)
		for j := range edges {
			if edges[i][j] {
				uses[i]++
			}
			if seen[j] {
				reaches[i]++
			}
		}
	}
	one, other := search(edges, uses), search(edges, reaches)
	if up(edges, other) < up(edges, one) {
		return other
	}
	return one
}

// reach marks the files that a file uses, directly or through other files.
func reach(edges [][]bool, from int, seen []bool) {
	for to, used := range edges[from] {
		if used && !seen[to] {
			seen[to] = true
			reach(edges, to, seen)
		}
	}
}

// up counts the arrows that go back up.
func up(edges [][]bool, order []int) (n int) {
	for at, f := range order {
		for _, above := range order[at+1:] {
			if edges[f][above] {
				n++
			}
		}
	}
	return n
}

// search begins with the files of the smallest weight, and moves one file at a time to where it saves most, until no
// move helps.
func search(edges [][]bool, weight []int) []int {
	order := make([]int, len(edges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return weight[a] - weight[b] })
	for saved := true; saved; {
		saved = false
		for _, f := range slices.Clone(order) {
			from := slices.Index(order, f)
			// gain[i] is what is saved if f stands before the i-th of the others.
			rest := slices.Delete(slices.Clone(order), from, from+1)
			cost, bestAt, now := 0, 0, 0
			for _, g := range rest {
				if edges[f][g] {
					cost++ // f at the bottom: what it uses is above it
				}
			}
			best := cost
			for i := 0; i <= len(rest); i++ {
				if i > 0 {
					if g := rest[i-1]; edges[f][g] != edges[g][f] {
						if edges[f][g] {
							cost--
						} else {
							cost++
						}
					}
				}
				if i == from {
					now = cost
				}
				if cost < best {
					best, bestAt = cost, i
				}
			}
			if best < now {
				order, saved = slices.Insert(rest, bestAt, f), true
			}
		}
	}
	return order
}
