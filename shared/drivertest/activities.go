package drivertest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// activity returns a first version without writing it.
func activity(id string, items ...string) seckill.Activity {
	return seckill.Activity{ID: id, Title: "双十一 “早场” 😀", Start: now, End: now.Add(time.Hour), Items: items,
		Version: 1, MadeBy: "arn:aws:sts::123456789012:assumed-role/editor/ann", MadeFrom: seckill.MadeAtCLI,
		Made: epoch}
}

func (s *suite) save(a seckill.Activity, was *seckill.Activity) seckill.Activity {
	s.Helper()
	s.ok(s.Ledger.SaveActivity(s.ctx, a, was))
	got, err := s.Ledger.Activity(s.ctx, a.ID)
	s.ok(err)
	s.same("activity "+a.ID, got, a)
	return got
}

func (s *suite) in(want map[string]string, items ...string) {
	s.Helper()
	got, err := s.Ledger.ActivitiesOf(s.ctx, items)
	s.ok(err)
	s.same("activities of items", got, want)
}

func isTaken(item, activity string) func(error) bool {
	return func(err error) bool {
		var taken *seckill.ItemTaken
		return errors.As(err, &taken) && *taken == seckill.ItemTaken{Item: item, Activity: activity}
	}
}

var activityCases = []ledgerCase{
	{"what is saved is read, field by field; another is unknown", func(s *suite) {
		s.save(activity("1", "7", "8"), nil)
		other := activity("9223372036854775807")
		other.Offline, other.Deleted, other.MadeFrom = true, now, seckill.MadeAtPage
		other.Resumes = []string{"9", "1"}
		s.save(other, nil)
		none := activity("3")
		none.Offline, none.Resumes = true, []string{} // not as nil
		s.save(none, nil)
		for _, id := range []string{"2", "7"} {
			if a, err := s.Ledger.Activity(s.ctx, id); !errors.Is(err, seckill.ErrNoActivity) {
				s.Errorf("activity %s: %+v, %v", id, a, err)
			}
		}
		s.in(map[string]string{"7": "1", "8": "1"}, "7", "8", "9")
		s.in(map[string]string{})
	}},
	{"only the next version is saved, over the one that was read", func(s *suite) {
		first := s.save(activity("1", "7"), nil)
		second := first
		second.Version, second.Title, second.Items = 2, "2", []string{"8"}
		s.save(second, &first)
		third, fifth, made := first, second, first
		third.Version, fifth.Version, made.Version = 2, 4, 2
		for name, save := range map[string]func() error{
			"made a second time":    func() error { return s.Ledger.SaveActivity(s.ctx, first, nil) },
			"made as version 2":     func() error { return s.Ledger.SaveActivity(s.ctx, made, nil) },
			"over an older version": func() error { return s.Ledger.SaveActivity(s.ctx, third, &first) },
			"the next but one":      func() error { return s.Ledger.SaveActivity(s.ctx, fifth, &second) },
			"another one": func() error {
				o := second
				o.ID, o.Version = "3", 3
				return s.Ledger.SaveActivity(s.ctx, o, &second)
			},
		} {
			s.refused(name, isError(seckill.ErrStateChanged), save)
		}
		got, err := s.Ledger.Activity(s.ctx, "1")
		s.ok(err)
		s.same("afterwards", got, second)
		s.in(map[string]string{"8": "1"}, "7", "8")
	}},
	{"an item is in one activity: the second one is refused, and moves nothing", func(s *suite) {
		s.save(activity("1", "7", "8"), nil)
		s.refused("a second activity", isTaken("8", "1"), func() error {
			return s.Ledger.SaveActivity(s.ctx, activity("2", "9", "8"), nil)
		})
		s.in(map[string]string{"7": "1", "8": "1"}, "7", "8", "9")
		second := s.save(activity("2", "9"), nil)
		both := second
		both.Version, both.Items = 2, []string{"7", "9"}
		s.refused("a save that takes it", isTaken("7", "1"), func() error {
			return s.Ledger.SaveActivity(s.ctx, both, &second)
		})
		if _, err := s.Ledger.Activity(s.ctx, "2"); err != nil {
			s.Error(err)
		}
	}},
	{"a deleted activity holds no items, and gets them back only if they are free", func(s *suite) {
		first := s.save(activity("1", "7", "8"), nil)
		gone := first
		gone.Version, gone.Deleted = 2, now
		s.save(gone, &first)
		s.in(map[string]string{}, "7", "8")
		other := s.save(activity("2", "8"), nil)
		back := first
		back.Version = 3
		s.refused("undelete", isTaken("8", "2"), func() error { return s.Ledger.SaveActivity(s.ctx, back, &gone) })
		empty := other
		empty.Version, empty.Items = 2, nil
		s.save(empty, &other)
		s.save(back, &gone)
		s.in(map[string]string{"7": "1", "8": "1"}, "7", "8")
	}},
	{"an activity holds MaxActivityItems, and all of them leave at once", func(s *suite) {
		var many []string
		for i := range seckill.MaxActivityItems + 1 {
			many = append(many, fmt.Sprint(1000+i))
		}
		first := s.save(activity("1", many[:seckill.MaxActivityItems]...), nil)
		s.in(map[string]string{"1000": "1", "1098": "1"}, "1000", "1098", "1099")
		more := first
		more.Version, more.Items = 2, many
		swapped := more
		swapped.Items = []string{"7"}
		for name, a := range map[string]seckill.Activity{"too many items": more, "too many that move": swapped} {
			if err := s.Ledger.SaveActivity(s.ctx, a, &first); seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Errorf("%s: %v, want CodeInvalid", name, err)
			}
		}
		none := first
		none.Version, none.Deleted = 2, now
		s.save(none, &first)
		s.in(map[string]string{}, many...)
	}},
	{"a bad activity is not saved", func(s *suite) {
		for name, spoil := range map[string]func(*seckill.Activity){
			"id":         func(a *seckill.Activity) { a.ID = "07" },
			"no title":   func(a *seckill.Activity) { a.Title = "" },
			"a long one": func(a *seckill.Activity) { a.Title = strings.Repeat("a", seckill.MaxTitle+1) },
			"window":     func(a *seckill.Activity) { a.End = a.Start },
			"item":       func(a *seckill.Activity) { a.Items = []string{"x"} },
			"item twice": func(a *seckill.Activity) { a.Items = []string{"7", "7"} },
			"by nobody":  func(a *seckill.Activity) { a.MadeBy = "" },
			"from where": func(a *seckill.Activity) { a.MadeFrom = "203.0.113.7" },
		} {
			a := activity("1", "7")
			spoil(&a)
			if err := s.Ledger.SaveActivity(s.ctx, a, nil); seckill.CodeOf(err) != seckill.CodeInvalid {
				s.Errorf("%s: %v, want CodeInvalid", name, err)
			}
		}
		s.in(map[string]string{}, "7")
	}},
	{"activities are listed, latest end first, in pages", func(s *suite) {
		var want []string
		for i := range 5 {
			a := activity(fmt.Sprint(10+i), fmt.Sprint(100+i))
			a.End = now.Add(time.Duration(1+(i*3)%5) * time.Hour)
			if i == 2 {
				a.Deleted = now
			}
			s.save(a, nil)
		}
		moved, err := s.Ledger.Activity(s.ctx, "13")
		s.ok(err)
		was := moved
		moved.End, moved.Version = now.Add(100*time.Hour), 2
		s.save(moved, &was)
		s.CatchUp()
		for after := ""; ; {
			p, err := s.Ledger.ListActivities(s.ctx, after, 2)
			s.ok(err)
			for _, a := range p.Rows {
				want = append(want, a.ID)
			}
			if after = p.Next; after == "" {
				break
			}
		}
		s.same("order", want, []string{"13", "11", "14", "12", "10"})
	}},
	{"of many that take one item at once, one gets it", func(s *suite) {
		const rivals = 8
		won := 0
		for _, err := range allTogether(rivals, func(i int) error {
			return s.Ledger.SaveActivity(s.ctx, activity(fmt.Sprint(1+i), "7", fmt.Sprint(101+i)), nil)
		}) {
			var taken *seckill.ItemTaken
			if err == nil {
				won++
			} else if !errors.As(err, &taken) {
				s.Error(err)
			}
		}
		items := []string{"7"}
		for i := range rivals {
			items = append(items, fmt.Sprint(101+i))
		}
		got, err := s.Ledger.ActivitiesOf(s.ctx, items)
		s.ok(err)
		s.same("saved", won, 1)
		s.same("items that are in an activity", got, map[string]string{"7": got["7"], "10" + got["7"]: got["7"]})
	}},
}
