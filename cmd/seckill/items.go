package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/itemfile"
	"github.com/your-org/seckill/shared/adapter/operator"
	"github.com/your-org/seckill/shared/flow/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// shop is where an operator's items are: a running `seckill run`, or a deployed stack. A refusal is an error that names
// its reason; a faultError leaves open whether the change happened, and each may be repeated.
type shop interface {
	// Export gives every item as a JSON items file. *operator.LeftOut: every one but those that cannot be read.
	Export(ctx context.Context) ([]byte, error)
	// Import makes or changes the file's items, all or none.
	Import(ctx context.Context, f itemsFile) (stage.Imported, error)
	// SetStopped stops or resumes an item's sale; nil only once the sale obeys.
	SetStopped(ctx context.Context, id string, stopped bool) (operator.ItemChange, error)
	// AddStock raises an item's stock to n units in all.
	AddStock(ctx context.Context, id string, n int) (operator.ItemChange, error)
}

// itemsFile is a file that was found good: its bytes, and what they say.
type itemsFile struct {
	name  string
	data  []byte
	items []seckill.Listing
}

// target is the flags that say which shop is meant.
type target struct{ url, stack, region, profile string }

// on adds the flags to a command and to those below it.
func (t *target) on(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&t.url, "url", defaultURL, "address of the running shop")
	flags.StringVar(&t.stack, "stack", "", "name of a deployed stack, instead of an address")
	flags.StringVar(&t.region, "region", "", "the stack's AWS region (else AWS_REGION, or the profile's)")
	flags.StringVar(&t.profile, "profile", "",
		"profile of the AWS configuration (else AWS_PROFILE, or the default one)")
}

// deployed says whether a stack is meant, and not an address.
func (t *target) deployed(cmd *cobra.Command) (bool, error) {
	given := cmd.Flags().Changed
	switch {
	case given("stack") && given("url"):
		return false, errors.New(
			"--stack and --url contradict each other: it is a deployed stack, or a shop at an address")
	case given("stack"):
		return true, nil
	case given("region"), given("profile"):
		return false, errors.New("--region and --profile say where a deployed stack is: name it with --stack")
	}
	return false, nil
}

// sameShop is the flags that lead another command to the same shop, each with a blank before it.
func (t *target) sameShop() string {
	out := ""
	for _, flag := range []struct{ name, value, not string }{{"url", t.url, defaultURL}, {"stack", t.stack, ""},
		{"region", t.region, ""}, {"profile", t.profile, ""}} {
		if flag.value != flag.not {
			out += " --" + flag.name + " " + flag.value
		}
	}
	return out
}

func (t *target) shop(cmd *cobra.Command) (shop, error) {
	deployed, err := t.deployed(cmd)
	switch {
	case err != nil:
		return nil, err
	case deployed:
		return openStack(cmd.Context(), t, stageOutput, waitingOn(cmd.ErrOrStderr()))
	}
	return newRunningShop(t.url)
}

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
			f, err := readItems(args[0])
			if err != nil {
				return err
			}
			s, err := to.shop(cmd)
			if err != nil {
				return err
			}
			done, err := s.Import(cmd.Context(), f)
			if err != nil {
				return err
			}
			return say(cmd, "%s", imported(done))
		},
	}
}

// readItems reads a file and checks it here, so that what is wrong is said with the file's own name and lines.
func readItems(name string) (itemsFile, error) {
	f := itemsFile{name: name}
	info, err := os.Stat(name)
	if err != nil {
		return f, err
	}
	if info.Size() > itemfile.MaxSize {
		return f, fmt.Errorf("%s: larger than %d MiB", name, itemfile.MaxSize>>20)
	}
	if f.data, err = os.ReadFile(name); err != nil {
		return f, err
	}
	f.items, err = itemfile.Parse(name, f.data, time.Now())
	return f, err
}

// imported says in a line what an import did.
func imported(d stage.Imported) string {
	if len(d.Made)+len(d.Changed) == 0 {
		return fmt.Sprintf("Nothing to do: %s there already, just so.", counted(len(d.Unchanged), "item is",
			"items are"))
	}
	var parts []string
	for _, p := range []struct {
		ids  []string
		what string
	}{{d.Made, "made"}, {d.Changed, "changed"}, {d.Unchanged, "there already"}} {
		if len(p.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(p.ids), p.what))
		}
	}
	return fmt.Sprintf("Imported %s: %s.", counted(len(d.Made)+len(d.Changed)+len(d.Unchanged), "item", "items"),
		strings.Join(parts, ", "))
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
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
			s, err := to.shop(cmd)
			if err != nil {
				return err
			}
			data, err := s.Export(cmd.Context())
			leftOut := &operator.LeftOut{}
			if err != nil && !errors.As(err, &leftOut) {
				return err
			}
			var items []json.RawMessage
			if err := json.Unmarshal(data, &items); err != nil {
				return faultError{fmt.Errorf("what was exported is no items file: %w", err)}
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
			s, err := to.itemShop(cmd, args[0])
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
func setStopped(cmd *cobra.Command, s shop, id string, stop bool) error {
	done, nothing := "Item %s is no longer stopped: %s.", "Nothing to do: item %s was not stopped; it is %s."
	if stop {
		done, nothing = "Item %s is stopped (%s).", "Nothing to do: item %s was stopped already (%s)."
	}
	it, err := s.SetStopped(cmd.Context(), id, stop)
	switch {
	case err != nil:
		return err
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
			s, err := to.itemShop(cmd, args[0])
			if err != nil {
				return err
			}
			it, err := s.AddStock(cmd.Context(), args[0], n)
			switch {
			case err != nil:
				return err
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

// itemShop is shop for a command about one item.
func (t *target) itemShop(cmd *cobra.Command, id string) (shop, error) {
	if !seckill.ValidItemID(id) {
		return nil, fmt.Errorf("ID %q: want 1 to 19 digits without a leading zero", id)
	}
	return t.shop(cmd)
}

func describe(it operator.ItemChange) string {
	if !it.Loaded {
		return string(it.State) + ", not loaded now"
	}
	return fmt.Sprintf("%s, %d of %d left", it.State, it.Left, it.Stock)
}

// said puts a refusal of a change to an item into words. where names the shop.
func said(err error, id, where string) error {
	refused := &operator.Refusal{}
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Code == seckill.CodeItemUnknown:
		return fmt.Errorf("item %s: %s has no such item", id, where)
	case refused.Code == seckill.CodeNotReady:
		return faultError{fmt.Errorf(
			"item %s: it is noted, but the stock is being rebuilt and does not know it yet: repeat the command until "+
				"it says so", id)}
	}
	return err
}

// exactly wants these arguments, and names the one that is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

func say(cmd *cobra.Command, format string, args ...any) error {
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...); err != nil {
		return faultError{errors.Join(errors.New("it was done, and could not be said"), err)}
	}
	return nil
}
