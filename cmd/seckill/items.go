package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

func itemsCommand() *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:   "items",
		Short: "Import, export and show items, stop and resume a sale, add stock",
		Long: `Import, export and show items, stop and resume an item's sale, or add stock. Every command may be
repeated, and reports when there was nothing left to do.

With --stack, IAM says which roles you may take. The tool finds region and credentials as other AWS
tools do (environment, profiles, single sign-on).`,
		Example: `  seckill items export > items.json
  seckill items import items.csv
  seckill items stop 2002
  seckill items --url http://localhost:9000 add-stock 2002 50
  seckill items --stack seckill --region eu-central-1 --profile shop stop 2002`,
		Args: group,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	to.on(cmd)
	cmd.AddCommand(importCommand(&to), exportCommand(&to), stopCommand(&to, true),
		stopCommand(&to, false), addStockCommand(&to), pictureCommand(&to))
	return cmd
}

func importCommand(to *target) *cobra.Command {
	var overwrite, check bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Create or change the items of a .json or .csv file: all of them, or none",
		Long: `Create or change the items of a file: all of them, or none if any line is wrong.
"seckill run --help" lists the columns.

What may change when ("seckill items show" says it of one item): title, covers, detail and options
until the end of the sale; stock, which never shrinks, too; checks and questions until ` +
			strconv.Itoa(int(seckill.TicketLead/time.Minute)) + ` minutes
before the start, all else until ` + strconv.Itoa(int(seckill.StageLead/time.Minute)) + ` minutes before it.

An optional column that the file lacks (in JSON a key) stays as the item has it, and an empty one
clears it; questions that it does not repeat are dropped. What a description must not have, such as
scripts, is removed, and named. Items that are not in the file stay as they are. What is imported holds
within a minute.

If several lines are wrong, the command prints the first ` + strconv.Itoa(linefile.MaxFaults) +
			` of them, one a line. --check has the shop judge
the file, and changes nothing.

An exported file says from which version of an item each line was made. If somebody has changed the
item since, nothing is imported, and the command names what differs: export again and redo your
change, or give --overwrite.`,
		Example: `  seckill items import items.csv
  seckill items import items.csv --check
  seckill items import items.json --url http://localhost:9000`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importFile(cmd, to, args[0], overwrite, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "have the shop check the file, and change nothing")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "also change items that somebody has changed since the export")
	return cmd
}

// importFile imports a file of items, or only has the shop check it.
func importFile(cmd *cobra.Command, to *target, file string, overwrite, check bool) error {
	items, places, err := itemfile.ReadPlaces(file, time.Now())
	bad := &itemfile.Error{File: file}
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	for i := range items {
		if len(items[i].Removed) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "seckill: item %s: removed from its description: %s\n", items[i].ID,
				strings.Join(items[i].Removed, ", "))
		}
		if overwrite {
			items[i].Base = 0
		}
	}
	c := operator.Import{Items: itemfile.Format(items), Dry: check || len(bad.Lines) > 0}
	s, err := to.shop(cmd)
	if len(bad.Lines) > 0 {
		if err == nil && len(items) > 0 { // so that all faults are reported at once
			_, err = operator.Give[stage.Imported](cmd.Context(), &s.Client, &c)
		}
		return wrongItems(cmd, bad, err, places)
	}
	if err != nil {
		return err
	}
	done, err := operator.Give[stage.Imported](cmd.Context(), &s.Client, &c)
	var refused *operator.Refusal
	switch {
	case errors.Is(err, operator.ErrTooLarge):
		return fmt.Errorf("%s: its items are %w: split it", file, err)
	case errors.As(err, &refused) && refused.Wrong > 1:
		err = wrongItems(cmd, bad, err, places)
	case err != nil:
		err = s.explain(err, "")
	case check:
		return say(cmd, "%s is right: %d would be created, %d changed, %d stay as they are. Nothing was "+
			"changed.", file, len(done.Made), len(done.Changed), len(done.Unchanged))
	default:
		return say(cmd, "%s", imported(done))
	}
	if refusedAs(err, operator.CodeConflict) {
		return fmt.Errorf("%w: export again and redo the change, or give --overwrite", err)
	}
	return err
}

// wrongItems prints what is wrong in a file of items, including what the shop refused, and returns the command's error.
// places are the places in the file of the items that the shop got.
func wrongItems(cmd *cobra.Command, bad *itemfile.Error, err error, places []itemfile.Place) error {
	var refused *operator.Refusal
	lines, more := bad.Lines, 0
	if errors.As(err, &refused) {
		for _, l := range refused.Lines {
			if l.N < 1 || l.N > len(places) {
				return faultError{fmt.Errorf("%w: no such item", operator.ErrAnswer)}
			}
			lines = append(lines, itemfile.Line{Place: places[l.N-1], What: l.What})
		}
		more = refused.Wrong - len(refused.Lines)
	} else if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s: its other lines were not checked: %v\n", bad.File, err)
	}
	if len(lines)+more == 1 {
		return bad
	}
	slices.SortStableFunc(lines, func(a, b itemfile.Line) int { return cmp.Compare(a.N, b.N) })
	shown := lines[:min(len(lines), linefile.MaxFaults)]
	for _, l := range shown {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s: %s: %s\n", bad.File, l.Where, printable(l.What))
	}
	n := len(lines) + more
	said := ""
	if n > len(shown) {
		said = fmt.Sprintf(", %d more than these", n-len(shown))
	}
	return fmt.Errorf("%s: %d lines are wrong%s; nothing was changed", bad.File, n, said)
}

// imported describes in a line what an import did.
func imported(d stage.Imported) string {
	if len(d.Made)+len(d.Changed) == 0 {
		return fmt.Sprintf("Nothing to do: %s up to date.", counted(len(d.Unchanged), "item is", "items are"))
	}
	var parts []string
	for _, p := range []struct {
		ids  []string
		what string
	}{{d.Made, "created"}, {d.Changed, "changed"}, {d.Unchanged, "unchanged"}} {
		if len(p.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(p.ids), p.what))
		}
	}
	return fmt.Sprintf("Imported %s: %s.", counted(len(d.Made)+len(d.Changed)+len(d.Unchanged), "item", "items"),
		strings.Join(parts, ", "))
}

func exportCommand(to *target) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Write all items to standard output, as a JSON file for import",
		Long: `Write all items to standard output, as a JSON file for import. The file does not contain
which items are stopped. With --role editor, and of a running shop, it contains the answers to questions:
keep it as a secret. Other roles get the questions alone. An export holds at most ` + strconv.Itoa(seckill.MaxItems) +
			` items:
it leaves out those that end last, and says so on standard error. If the row of an item cannot be
read, standard error names it, the exit code is 1, and the file has all other items.`,
		Example: `  seckill items export > items.json
  seckill items export --stack seckill-prod --role editor > items.json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := to.shop(cmd)
			if err != nil {
				return err
			}
			data, err := s.Export(cmd.Context())
			leftOut := &operator.LeftOut{}
			if err != nil && !errors.As(err, &leftOut) {
				return s.explain(err, "")
			}
			var items []json.RawMessage
			if err := json.Unmarshal(data, &items); err != nil {
				return faultError{fmt.Errorf("the export is not an items file: %w", err)}
			}
			if _, err := cmd.OutOrStdout().Write(data); err != nil {
				return faultError{err}
			}
			if len(items) == seckill.MaxItems {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"seckill: the export has %d items, its maximum: the shop may have more\n", seckill.MaxItems)
			}
			if len(leftOut.Rows) > 0 {
				return faultError{leftOut}
			}
			return nil
		},
	}
}

func stopCommand(to *target, stop bool) *cobra.Command {
	verb, short := "resume", "Resume an item's sale"
	long := `Resume the sale of a stopped item, within its start and end, with the units that are left.

With --hard, reopen the whole shop after a hard stop: its API gets back the throttle of the stack's
parameters.`
	if stop {
		verb, short = "stop", "Stop an item's sale, or with --hard the whole shop"
		long =
			`Stop an item's sale. Once the command reports success, no unit is reserved any more, and
none is placed later than 2 seconds after that. Existing orders can still be paid.

With --hard, stop the whole shop instead of one item. Use it when functions or Redis no longer
respond: it sets the API's throttle to 0 for everything but payment notifications. It calls no
function; it needs the rights apigateway:GET and apigateway:PATCH on the API's stage. Shoppers
cannot look, buy, cancel or see orders then; the API answers 429. Reservations are still placed:
with ID, the command also stops the item, if its function answers. A deployment may reopen the shop;
"seckill doctor" reports whether it is stopped hard.`
	}
	hardly, hard, yes := "reopen the whole shop after a hard stop, with the deployed throttle", false, false
	if stop {
		hardly = "stop the whole shop at its API, without its functions; with ID, also stop the item"
	}
	cmd := &cobra.Command{
		Use:   verb + " ID",
		Short: short,
		Long:  long,
		Example: fmt.Sprintf(`  seckill items %s 2002
  seckill items %s 2002 --url http://localhost:9000
  seckill items %s --hard --stack seckill-prod`, verb, verb, verb),
		Args: func(cmd *cobra.Command, args []string) error {
			if hard && len(args) == 0 {
				return nil
			}
			return exactly("ID")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case hard:
				return hardStop(cmd, to, strings.Join(args, ""), stop, yes)
			case yes:
				return errors.New("--yes goes with --hard only, which asks for confirmation")
			}
			s, err := itemShop(cmd, to, args[0])
			if err != nil {
				return err
			}
			return setStopped(cmd, s, args[0], stop)
		},
	}
	cmd.Flags().BoolVar(&hard, "hard", false, hardly)
	if stop {
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	}
	return cmd
}

// setStopped stops or resumes an item's sale and prints the outcome.
func setStopped(cmd *cobra.Command, s *shop, id string, stop bool) error {
	done, nothing := "Item %s is resumed (%s).", "Nothing to do: item %s is not stopped (%s)."
	if stop {
		done, nothing = "Item %s is stopped (%s).", "Nothing to do: item %s is already stopped (%s)."
	}
	var c operator.Command = &operator.Resume{Item: id}
	if stop {
		c = &operator.Stop{Item: id}
	}
	it, err := operator.Give[operator.ItemChange](cmd.Context(), &s.Client, c)
	switch {
	case err != nil:
		return ofItem(s, err, id)
	case !it.Changed:
		return say(cmd, nothing, it.ID, describe(it))
	}
	return say(cmd, done, it.ID, describe(it))
}

func addStockCommand(to *target) *cobra.Command {
	return &cobra.Command{
		Use:   "add-stock ID N",
		Short: "Raise an item's stock to a total of N units",
		Long: `Raise an item's stock to a total of N units, sold units included, also during the sale. N
is the new total, not the number to add, so that a repetition adds nothing. Stock never shrinks.`,
		Example: `  seckill items add-stock 2002 50     from 10 units to 50: 40 more`,
		Args:    exactly("ID", "N"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 || n > seckill.MaxStock {
				return fmt.Errorf("stock %q: want 1 to %d", args[1], seckill.MaxStock)
			}
			s, err := itemShop(cmd, to, args[0])
			if err != nil {
				return err
			}
			it, err := operator.Give[operator.ItemChange](cmd.Context(), &s.Client,
				&operator.AddStock{Item: args[0], Stock: n})
			switch {
			case err != nil:
				return ofItem(s, err, args[0])
			case it.Changed:
				return say(cmd, "Item %s now has %s in total (%s).", it.ID, counted(it.Stock, "unit", "units"),
					describe(it))
			case it.Stock > n:
				return fmt.Errorf("stock %d: item %s already has %s, and stock never shrinks (N is the new total)", n,
					it.ID, counted(it.Stock, "unit", "units"))
			default:
				return say(cmd, "Nothing to do: item %s has %s in total (%s).", it.ID,
					counted(it.Stock, "unit", "units"), describe(it))
			}
		},
	}
}

// itemShop opens the shop for a command about one item.
func itemShop(cmd *cobra.Command, to *target, id string) (*shop, error) {
	if err := checkItem(id); err != nil {
		return nil, err
	}
	return to.shop(cmd)
}

func checkItem(id string) error {
	if !seckill.ValidItemID(id) {
		return fmt.Errorf("ID %q: want 1 to 19 digits without a leading zero", id)
	}
	return nil
}

// ofItem puts the error of a change to an item into words.
func ofItem(s *shop, err error, id string) error {
	if refusedAs(err, seckill.CodeNotReady) {
		return faultError{fmt.Errorf("item %s: the change is recorded, but the stock is being rebuilt and does not "+
			"have it yet: repeat the command until it succeeds", id)}
	}
	return s.explain(err, "item "+id)
}

func describe(it operator.ItemChange) string {
	if !it.Loaded {
		return string(it.State) + ", not loaded yet"
	}
	return fmt.Sprintf("%s, %d of %d left", it.State, it.Left, it.Stock)
}
