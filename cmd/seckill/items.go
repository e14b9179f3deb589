package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/itemfile"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/flow/stage"
	"github.com/your-org/seckill/shared/seckill"
)

func itemsCommand() *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:   "items",
		Short: "Import and export items, stop and resume a sale, add stock",
		Long: `Import and export items, stop and resume an item's sale, add stock: in a shop that runs
by "seckill run" (--url), or in a stack that is deployed on AWS (--stack). Every command may be
repeated; it says when there was nothing left to do.

With --stack, the commands are carried out by the stack's stage function, which reaches its Redis.
Region and credentials are found as other AWS tools find them (environment, profiles, single
sign-on). They have to allow sts:GetCallerIdentity, cloudformation:DescribeStacks and
lambda:InvokeFunction. Who gave which command is in the function's log.`,
		Example: `  seckill items export > items.json
  seckill items import items.csv
  seckill items stop 2002
  seckill items --url http://localhost:9000 add-stock 2002 50
  seckill items --stack seckill --region eu-central-1 --profile shop stop 2002`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	to.on(cmd)
	cmd.AddCommand(importCommand(&to), exportCommand(&to), stopCommand(&to, true), stopCommand(&to, false),
		addStockCommand(&to))
	return cmd
}

func importCommand(to *target) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Make or change the items of a .json or .csv file: all of them, or none",
		Long: `Make or change the items of a file: all of them, or none when any line is wrong.
"seckill run --help" names the columns.

An item can be changed until ` + strconv.Itoa(int(seckill.StageLead/time.Minute)) +
			` minutes before its start; from then on it can be stopped, resumed and given more stock.
Its stock never shrinks. Items that the file does not name are left alone. What is imported is for
sale within a minute, if its sale is open.`,
		Example: `  seckill items import items.csv
  seckill items import items.json --url http://localhost:9000`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			items, err := itemfile.Read(args[0], time.Now())
			if err != nil {
				return err
			}
			s, err := to.shop(cmd, stageOutput)
			if err != nil {
				return err
			}
			done, err := s.Import(cmd.Context(), items)
			if errors.Is(err, operator.ErrTooLarge) {
				return fmt.Errorf("%s: its items are %w: split it", args[0], err)
			}
			if err != nil {
				return s.explain(err, "")
			}
			return say(cmd, "%s", imported(done))
		},
	}
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
		Short: "Write all items to standard output, as a JSON file that import reads",
		Long: `Write all items to standard output, as a JSON file that import reads. It does not say
which items are stopped. Of more than
` + strconv.Itoa(seckill.MaxItems) +
			` items those that end last are left out, and standard error says so. It also names each
item whose row cannot be read; the exit code is 1 then, and the file has all others.`,
		Example: `  seckill items export > items.json`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := to.shop(cmd, stageOutput)
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
					"seckill: these are %d items, as many as an export holds: there may be more\n", seckill.MaxItems)
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
	long := `Resume the sale of an item that was stopped. It goes on within its window, with what is
left.

With --hard, open the whole shop again that was stopped hard: its API gets the throttle of the
stack's parameters back.`
	if stop {
		verb, short = "stop", "Stop an item's sale, or with --hard the whole shop"
		long =
			`Stop an item's sale. Once the command has said so, no unit is reserved any more, and
none placed later than 2 seconds from then. Orders that are there can still be paid.

With --hard, stop the whole shop, not one item, when functions or Redis do not obey any more: the
API's throttle is set to 0 for everything but payment notifications. It needs no function, but the
right apigateway:GET and apigateway:PATCH on the API's stage. Nobody can look, buy, cancel or see an
order then; who asks is told 429. What was reserved is still placed: with ID the item is stopped as
well, if its function answers. A deployment meanwhile may open the shop: "seckill doctor" says
whether it is stopped hard.`
	}
	hardly, hard, yes := "open the whole shop again that was stopped hard, as it is deployed", false, false
	if stop {
		hardly = "stop the whole shop at its door, whatever its functions do; with ID, then the item as well"
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
				return errors.New("--yes answers what --hard asks: it means nothing without it")
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
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask whether the whole shop is meant")
	}
	return cmd
}

// setStopped stops or resumes an item's sale, and says so.
func setStopped(cmd *cobra.Command, s *shop, id string, stop bool) error {
	done, nothing := "Item %s is no longer stopped: %s.", "Nothing to do: item %s was not stopped; it is %s."
	if stop {
		done, nothing = "Item %s is stopped (%s).", "Nothing to do: item %s was stopped already (%s)."
	}
	it, err := s.SetStopped(cmd.Context(), id, stop)
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
		Short: "Raise an item's stock to N units in all",
		Long: `Raise an item's stock to N units in all, sold ones included, also while it is on sale. N
is the new total and not what is added, so that a repetition adds nothing. Stock never shrinks.`,
		Example: `  seckill items add-stock 2002 50     from 10 units to 50: 40 more to sell`,
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
			it, err := s.AddStock(cmd.Context(), args[0], n)
			switch {
			case err != nil:
				return ofItem(s, err, args[0])
			case it.Changed:
				return say(cmd, "Item %s has %s in all now (%s).", it.ID, counted(it.Stock, "unit", "units"),
					describe(it))
			case it.Stock > n:
				return fmt.Errorf("stock %d: item %s has %s already, and stock never shrinks; N is the new total", n,
					it.ID,
					counted(it.Stock, "unit", "units"))
			default:
				return say(cmd, "Nothing to do: item %s has %s in all (%s).", it.ID, counted(it.Stock, "unit", "units"),
					describe(it))
			}
		},
	}
}

// itemShop opens the shop for a command about one item.
func itemShop(cmd *cobra.Command, to *target, id string) (*shop, error) {
	if err := checkItem(id); err != nil {
		return nil, err
	}
	return to.shop(cmd, stageOutput)
}

func checkItem(id string) error {
	if !seckill.ValidItemID(id) {
		return fmt.Errorf("ID %q: want 1 to 19 digits without a leading zero", id)
	}
	return nil
}

// ofItem puts the error of a change to an item into words.
func ofItem(s *shop, err error, id string) error {
	if refused := (*operator.Refusal)(nil); errors.As(err, &refused) && refused.Code == seckill.CodeNotReady {
		return faultError{fmt.Errorf("item %s: the change is recorded, but the stock is being rebuilt and does not "+
			"have it yet: repeat the command until it succeeds", id)}
	}
	return s.explain(err, "item "+id)
}

func describe(it operator.ItemChange) string {
	if !it.Loaded {
		return string(it.State) + ", not loaded now"
	}
	return fmt.Sprintf("%s, %d of %d left", it.State, it.Left, it.Stock)
}
