package memory

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// naiveZSet is a sorted set that sorts its members for each query.
type naiveZSet map[string]float64

func (n naiveZSet) sorted() []redisScored {
	var out []redisScored
	for m, s := range n {
		out = append(out, redisScored{s, m})
	}
	slices.SortFunc(out, func(a, b redisScored) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	return out
}

func redisZSetMembers(z *redisZSet) (out []redisScored) {
	z.each(func(e redisScored) bool {
		out = append(out, e)
		return true
	})
	return out
}

// Whatever is added, moved, removed and popped, singly or by the hundred, the set equals the sorted list of its
// members.
func TestRedisSortedSetIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, want := newRedisZSet(), naiveZSet{}
		member := rapid.Custom(func(t *rapid.T) string {
			return strconv.Itoa(rapid.IntRange(0, 3000).Draw(t, "member"))
		})
		score := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-5, 40).Draw(t, "score")) / 4 })
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				m, s := member.Draw(t, "m"), score.Draw(t, "s")
				_, had := want[m]
				if added := z.add(m, s); added == had {
					t.Fatalf("add %s: new %v, was there %v", m, added, had)
				}
				want[m] = s
			},
			"add many": func(t *rapid.T) {
				from, n, step := rapid.IntRange(0, 3000).Draw(t, "from"), rapid.IntRange(1, 1500).Draw(t, "n"),
					rapid.SampledFrom([]int{-1, 1, 7}).Draw(t, "step")
				for i := range n {
					at := from + i*step
					z.add(strconv.Itoa(at), float64(at))
					want[strconv.Itoa(at)] = float64(at)
				}
			},
			"remove": func(t *rapid.T) {
				m := member.Draw(t, "m")
				_, had := want[m]
				if removed := z.remove(m); removed != had {
					t.Fatalf("remove %s: %v, was there %v", m, removed, had)
				}
				delete(want, m)
			},
			"pop": func(t *rapid.T) {
				for _, lowest := range want.sorted()[:min(rapid.IntRange(1, 700).Draw(t, "n"), z.len())] {
					if got := z.popMin(); got != lowest {
						t.Fatalf("popped %v, want %v", got, lowest)
					}
					delete(want, lowest.member)
				}
			},
			"copy": func(*rapid.T) {
				c := z.clone()
				for z.len() > 0 { // the copy must be independent of this
					z.popMin()
				}
				z = c
			},
			"": func(t *rapid.T) {
				all := want.sorted()
				if got := redisZSetMembers(z); !slices.Equal(got, all) {
					t.Fatalf("got %v\nwant %v", got, all)
				}
				for i, run := range z.runs {
					if len(run) == 0 || len(run) > redisChunk {
						t.Fatalf("run %d has %d members", i, len(run))
					}
				}
			},
		})
	})
}

// While fields are added, changed and deleted between pages, a scan returns every field that existed throughout.
func TestRedisScanGivesEveryFieldThatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRedis()
		do := func(cmd string, args ...string) any {
			v, err := r.Do(cmd, args...)
			if err != nil {
				t.Fatalf("%s %v: %v", cmd, args, err)
			}
			return v
		}
		field := rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(0, 120).Draw(t, "field")) })
		staying := map[string]bool{}
		for i := range rapid.IntRange(1, 120).Draw(t, "fields") {
			do("HSET", "h", strconv.Itoa(i), "0")
			staying[strconv.Itoa(i)] = true
		}
		// Deleting whole stretches makes the hash compact, and so move its fields, during the scan.
		deleteSome := func() {
			from, n := rapid.IntRange(0, 120).Draw(t, "from"), rapid.SampledFrom([]int{0, 0, 1, 5, 60}).Draw(t,
				"deleted")
			for i := from; i < from+n; i++ {
				do("HDEL", "h", strconv.Itoa(i))
				delete(staying, strconv.Itoa(i))
			}
		}
		deleteSome()
		seen := map[string]bool{}
		cursor, pages := "0", 0
		for pages == 0 || cursor != "0" {
			reply := do("HSCAN", "h", cursor, "COUNT", strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "count"))).([]any)
			cursor = reply[0].(string)
			page := reply[1].([]any)
			for i := 0; i < len(page); i += 2 {
				seen[page[i].(string)] = true
			}
			if pages++; pages > 500 { // more pages than fields can exist
				t.Fatal("the scan does not end")
			}
			if pages > 100 {
				continue // let the script run out
			}
			deleteSome()
			for _, f := range rapid.SliceOfN(field, 0, 5).Draw(t, "written") {
				do("HSET", "h", f, "1")
			}
		}
		for f := range staying {
			if !seen[f] {
				t.Fatalf("field %s was there all the time and was not given", f)
			}
		}
	})
}

// Fields keep the order in which they were added, also after deletions; a changed value does not move its field.
func TestRedisHashKeepsOrder(t *testing.T) {
	h := newRedisHash()
	for i := range 1000 {
		h.set(strconv.Itoa(i), "x")
	}
	for i := range 1000 {
		if i%10 != 0 {
			h.delete(strconv.Itoa(i))
		}
	}
	h.set("500", "y")
	h.set("1", "again")
	var got []string
	h.each(0, func(f *redisField) bool {
		got = append(got, f.name)
		return true
	})
	var want []string
	for i := range 100 {
		want = append(want, strconv.Itoa(10*i))
	}
	want = append(want, "1")
	must.Equal(t, want, got)
	if len(h.entries) > 2*h.len()+17 {
		t.Errorf("%d entries kept for %d fields", len(h.entries), h.len())
	}
}
