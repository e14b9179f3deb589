package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/proof/sim/mutants/on"
)

// pretend makes this test binary act as the player, with an answer for each mutant.
const pretend = "MUTANTS_TEST_PLAYER"

func TestMain(m *testing.M) {
	if os.Getenv(pretend) == "" {
		os.Exit(m.Run())
	}
	from, seeds := os.Args[2], os.Args[4]
	switch os.Getenv(on.Env) {
	case "2":
		fmt.Println(`{"Seeds":4,"Seed":4,"Check":"I1","Detail":"unit 7\nhas two rows"}`)
	case "4":
		panic("a bug")
	case "5":
		fmt.Println("?")
	case "7":
		if from == "1" {
			fmt.Println(`{"Seeds":6,"Seed":6,"Check":"L4"}`)
		} else {
			fmt.Println(`{"Seeds":2,"Seed":8,"Check":"I2"}`)
		}
	default:
		if from == "6" {
			fmt.Println(`{"Seeds":1,"Seed":6,"Check":"L4","Detail":"2 units unsold"}`)
		} else {
			fmt.Printf(`{"Seeds":%s,"Seed":%s}`, seeds, seeds)
		}
	}
	os.Exit(0)
}

func TestTry(t *testing.T) {
	t.Setenv(pretend, "1")
	all := []Mutant{
		{Number: 1, Name: "survivor"},
		{Number: 2, Name: "caught"},
		{Number: 4, Name: "crash"},
		{Number: 5, Name: "speechless"},
		{Number: 7, Name: "caught-later"},
	}
	all = append(all, Mutant{Number: 8, Name: "confirmed-redrawn"})
	tested := func(m *Mutant) outcome {
		return outcome{Result: on.Result{Seeds: 1, Seed: 1, Check: "TestX", Detail: "TestX/a_case of " + m.Name}}
	}
	var out strings.Builder
	got := try(t.Context(), &out, os.Args[0], tested, all, limits{mutant: 9, unmutated: 9}, 2)
	if got.caught != 4 || got.survived != 1 {
		t.Errorf("caught, survived = %d, %d, want 4, 1", got.caught, got.survived)
	}
	if by := strings.Join(got.first(), ", "); by != "I1 1, I2 1, TestX 1, crash 1" {
		t.Errorf("caught first by %s", by)
	}
	slices.Sort(got.failed)
	for i, want := range []string{"speechless: ", "survivor survived 9 seeds",
		"without a mutant, seed 6 breaks L4: 2 units unsold"} {
		if i >= len(got.failed) || !strings.HasPrefix(got.failed[i], want) {
			t.Errorf("failures %q, want %q at place %d", got.failed, want, i)
		}
	}
	for _, want := range []string{"no mutant: no violation in 9 seeds", "SURVIVED", "unit 7; has two rows", "a bug",
		" 8 seeds", "a_case of confirmed-redrawn"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

func TestTryStopsAtAViolationWithoutMutant(t *testing.T) {
	t.Setenv(pretend, "1")
	var out strings.Builder
	if got := try(t.Context(), &out, "/nonexistent/player", nil, []Mutant{{Number: 1, Name: "m"}}, limits{},
		1); len(got.failed) != 1 || got.caught != 0 {
		t.Errorf("got %+v, want one failure and nothing played", got)
	}
}
