package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	shownActivities = 20      // by default
	maxActivities   = 10_000  // activities that one command lists
	maxActivityFile = 1 << 16 // bytes
	week            = 7 * 24 * time.Hour
)

func activitiesCommand() *cobra.Command {
	var f shopFlags
	cmd := &cobra.Command{
		Use:   "activities",
		Short: "Group items under a title: list, show, save, copy, delete, take offline",
		Long: `Group items under a title. Shoppers see an activity's title over its items. An item is in one activity
at most, and its sale lies within the activity's window; it still has a window and a stop switch of its
own, which decide.

Every command may be repeated, and reports when there was nothing left to do. A save names the version
that it was made from: the second of two editors is refused, and sees the difference. A title may
change on pages up to a minute later.`,
		Example: `  seckill activities list
  seckill activities show 7001 --file > early.json
  seckill activities save early.json
  seckill activities copy 7001 --start 2026-11-18T12:00:00Z
  seckill activities offline 7001 --stack seckill-prod`,
	}
	return f.group(cmd, listActivitiesCommand(&f), showActivityCommand(&f), saveActivityCommand(&f),
		copyActivityCommand(&f), deleteActivityCommand(&f, false), deleteActivityCommand(&f, true))
}

func listActivitiesCommand(f *shopFlags) *cobra.Command {
	var limit int
	var all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List activities, the one that ends last first",
		Long: `List activities, the one that ends last first. A new one may be missing for some seconds. --all
lists deleted ones, too.`,
		Example: `  seckill activities list
  seckill activities list --all --limit 100`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxActivities {
				return fmt.Errorf("--limit %d: want 1 to %d", limit, maxActivities)
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			list, err := listActivities(cmd, s, all, limit)
			return f.print(cmd, err, &list, func(p *page) { p.activities(&list) })
		},
	}
	cmd.Flags().IntVar(&limit, "limit", shownActivities, fmt.Sprintf("activities at most, 1 to %d", maxActivities))
	cmd.Flags().BoolVar(&all, "all", false, "also deleted ones")
	return cmd
}

// listActivities reads as many activities as are wanted, page by page.
func listActivities(cmd *cobra.Command, s *shop, all bool, limit int) (out operator.ActivityPage, err error) {
	out.Activities, out.Next, err = pages(s, limit, seckill.MaxActivityPage, "",
		func(next string, n int) ([]operator.Activity, string, error) {
			p, err := give[operator.ActivityPage](cmd, s, "",
				&operator.ListActivities{All: all, Cursor: next, Limit: n})
			out.Unreadable = append(out.Unreadable, p.Unreadable...)
			return p.Activities, p.Next, err
		})
	return out, err
}

// activities prints a list of activities.
func (p *page) activities(list *operator.ActivityPage) {
	if len(list.Activities) == 0 {
		p.line("No activities.")
	} else {
		p.row("id", "state", "from", "to", "items", "title")
	}
	for i := range list.Activities {
		a := &list.Activities[i]
		p.row(a.ID, stateOf(a), at(a.Start), at(a.End), strconv.Itoa(len(a.Items)), a.Title)
	}
	for _, row := range list.Unreadable {
		p.line("Left out: %s", printable(row))
	}
	if list.Next != "" {
		p.line("There are more: raise --limit.")
	}
}

func stateOf(a *operator.Activity) string {
	if !a.Deleted.IsZero() {
		return "deleted"
	}
	return string(a.State)
}

func showActivityCommand(f *shopFlags) *cobra.Command {
	file := false
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an activity, its items, and which of its fields may change now",
		Long: `Show an activity: its state, its items with what is left of them, who made it, and which of its fields
a save may change now. --file prints what "seckill activities save" reads.`,
		Example: `  seckill activities show 7001
  seckill activities show 7001 --file > early.json`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.activityShop(cmd, args[0])
			if err != nil {
				return err
			}
			a, err := readActivity(cmd, s, args[0])
			if err == nil && file {
				return writeJSON(cmd.OutOrStdout(), a.ActivityFile)
			}
			return f.print(cmd, err, &a, func(p *page) { p.activity(&a) })
		},
	}
	cmd.Flags().BoolVar(&file, "file", false, "print it as a file to edit and save")
	return cmd
}

func readActivity(cmd *cobra.Command, s *shop, id string) (operator.ActivityView, error) {
	return give[operator.ActivityView](cmd, s, "activity "+id, &operator.ReadActivity{Activity: id})
}

// activity prints an activity with its items and rules.
func (p *page) activity(a *operator.ActivityView) {
	p.line("Activity %s: %s, version %d, made by %s (%s) at %s.", a.ID, stateOf(&a.Activity), a.Version,
		printable(a.MadeBy), printable(a.MadeFrom), at(a.Made))
	values := map[string]string{"title": a.Title, "start_time": at(a.Start), "end_time": at(a.End),
		"items": counted(len(a.Items), "item", "items")}
	p.row("field", "value", "may change")
	for _, r := range a.Rules {
		p.row(r.Field, values[r.Field], ofActivity(&r))
	}
	if len(a.Members) > 0 {
		p.line("")
		p.row("item", "state", "left", "stock", "title")
	}
	for _, it := range a.Members {
		left := strconv.Itoa(it.Left)
		if !it.Loaded {
			left = "not loaded"
		}
		p.row(it.ID, string(it.State), left, strconv.Itoa(it.Stock), it.Title)
	}
}

// ofActivity says in words what a rule of an activity allows.
func ofActivity(r *seckill.Rule) string {
	switch r.Why {
	case seckill.WhyEnded:
		return "no: the activity is over, since " + at(r.Since)
	case seckill.WhyItemsInside:
		return "while each item's sale stays inside"
	case seckill.WhyOnSaleStays:
		return "an item on sale stays"
	}
	return "yes"
}

func saveActivityCommand(f *shopFlags) *cobra.Command {
	overwrite := false
	cmd := &cobra.Command{
		Use:   "save FILE",
		Short: "Make an activity, or change one",
		Long: `Make an activity, or change one, as a JSON file says:

  {"id": "7001", "title": "Early birds", "start_time": "2026-11-11T12:00:00Z",
   "end_time": "2026-11-11T14:00:00Z", "items": ["2001", "2002"], "version": 3}

The id is up to you: 1 to 19 digits. The title is plain text, up to ` + strconv.Itoa(seckill.MaxTitle) + ` characters. Up to ` +
			strconv.Itoa(seckill.MaxActivityItems) + ` items, which
exist already, in the order in which pages show them. version is that of "seckill activities show
--file"; a new activity has none. Nothing is saved if anything is wrong.`,
		Example: `  seckill activities save early.json
  seckill activities save early.json --overwrite`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := activityFile(args[0])
			if err != nil {
				return err
			}
			s, err := f.shop(cmd)
			if err != nil {
				return err
			}
			if overwrite {
				now, err := operator.Give[operator.ActivityView](cmd.Context(), &s.Client,
					&operator.ReadActivity{Activity: file.ID})
				if err != nil && !refusedAs(err, operator.CodeActivityUnknown) {
					return s.explain(err, "activity "+file.ID)
				}
				file.Version = now.Version
			}
			a, err := give[operator.ActivityChange](cmd, s, "activity "+file.ID, &operator.SaveActivity{Save: &file})
			if refusedAs(err, operator.CodeConflict) {
				return fmt.Errorf("%w (seckill activities show %s --file): redo the change in it, or give --overwrite",
					err, file.ID)
			}
			return f.print(cmd, err, &a, func(p *page) { p.activityChange(&a, "saved") })
		},
	}
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "save it whatever version is stored")
	return cmd
}

// activityFile reads a file of an activity.
func activityFile(name string) (file operator.ActivityFile, err error) {
	text, err := readSmall(name, maxActivityFile)
	if err != nil {
		return file, err
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return file, fmt.Errorf("%s: %w: want an object with id, title, start_time, end_time, items and version", name,
			err)
	}
	if _, err := d.Token(); err != io.EOF {
		return file, fmt.Errorf("%s: something follows the object", name)
	}
	return file, checkActivity(file.ID)
}

func copyActivityCommand(f *shopFlags) *cobra.Command {
	start := ""
	cmd := &cobra.Command{
		Use:   "copy ID",
		Short: "Copy an activity and its items to a later time",
		Long: `Copy an activity and its items: a week later, or to --start. All get new ids; windows move as much,
and stock, limit, prices, checks, questions and descriptions are those of the items now, sold units
included. No copy is stopped. The same copy again makes nothing new.`,
		Example: `  seckill activities copy 7001
  seckill activities copy 7001 --start 2026-11-18T12:00:00Z`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var at time.Time
			var err error
			if start != "" {
				if at, err = time.Parse(time.RFC3339, start); err != nil {
					return fmt.Errorf("--start %+.60q: want a time such as 2026-11-18T12:00:00Z", start)
				}
			}
			s, err := f.activityShop(cmd, args[0])
			if err != nil {
				return err
			}
			if at.IsZero() {
				a, err := readActivity(cmd, s, args[0])
				if err != nil {
					return err
				}
				at = a.Start.Add(week)
			}
			return f.activity(cmd, s, args[0], &operator.CopyActivity{Activity: args[0], Start: at},
				"made, a copy of "+args[0])
		},
	}
	cmd.Flags().StringVar(&start, "start", "", "when the copy begins (default a week after the activity)")
	return cmd
}

func deleteActivityCommand(f *shopFlags, undo bool) *cobra.Command {
	verb, short, did := "delete", "Delete an activity; its items stay", "deleted"
	long := `Delete an activity. Its items stay as they are, without a title over them, and may go to others. It is
refused while one of them is on sale. "seckill activities undelete" brings it back.`
	if undo {
		verb, short, did = "undelete", "Bring a deleted activity back", "back"
		long = `Bring a deleted activity back with its items. It is refused if one of them has gone to another, or sells
outside of its window by now.`
	}
	return &cobra.Command{
		Use: verb + " ID", Short: short, Long: long, Example: "  seckill activities " + verb + " 7001",
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.activityShop(cmd, args[0])
			if err != nil {
				return err
			}
			return f.activity(cmd, s, args[0], &operator.DeleteActivity{Activity: args[0], Undo: undo}, did)
		},
	}
}

// activityShop opens the shop for a command about one activity.
func (f *shopFlags) activityShop(cmd *cobra.Command, id string) (*shop, error) {
	if err := checkActivity(id); err != nil {
		return nil, err
	}
	return f.shop(cmd)
}

func checkActivity(id string) error {
	if !seckill.ValidItemID(id) {
		return fmt.Errorf("activity %+.60q: want an id of 1 to 19 digits without a leading zero", id)
	}
	return nil
}

// activity gives a command about an activity, and prints what became of it.
func (f *shopFlags) activity(cmd *cobra.Command, s *shop, id string, c operator.Command, did string) error {
	return answer(f, cmd, s, "activity "+id, c, func(p *page, a *operator.ActivityChange) { p.activityChange(a, did) })
}

func (p *page) activityChange(a *operator.ActivityChange, did string) {
	if len(a.Stays) > 0 {
		defer p.line("Still stopped, as the activity did not stop them: %s. \"seckill items resume\" resumes one.",
			strings.Join(a.Stays, ", "))
	}
	if !a.Changed {
		p.line("Nothing to do: activity %s is %s, at version %d.", a.ID, stateOf(&a.Activity), a.Version)
		return
	}
	what := ""
	if a.Affects > 0 && slices.Contains([]string{"offline", "online"}, did) {
		what = fmt.Sprintf(", %s %s", counted(a.Affects, "item", "items"),
			map[string]string{"offline": "stopped", "online": "resumed"}[did])
	} else if a.Affects > 0 {
		what = fmt.Sprintf(", with %s", counted(a.Affects, "item", "items"))
	}
	p.line("Activity %s is %s%s (%s, from %s to %s, version %d).", a.ID, did, what, stateOf(&a.Activity),
		at(a.Start), at(a.End), a.Version)
}
