package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/api/csvfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// parcelsFormat has the columns that are read of a file.
var parcelsFormat = linefile.Format{Thing: "parcel", Format: csvfile.Format{
	Required: []string{"order", "carrier", "number"}, Numbers: []string{"number"}}}

// shipFlags are the flags of the command that ships.
type shipFlags struct {
	*orderFlags
	carrier, number, csv string
	confirm              bool
}

func shipOrdersCommand(of *orderFlags) *cobra.Command {
	f := shipFlags{orderFlags: of}
	cmd := &cobra.Command{
		Use:   "ship ORDER --carrier C --number N | ship --csv FILE",
		Short: "Record that an order, or each order of a .csv file, is shipped",
		Long: `Record that a confirmed order is shipped, with carrier and number, up to 64 characters each; with
--confirm also a paid one, which it confirms. The shopper sees both. A shipment cannot be undone,
and its units never return to the stock, but "seckill orders correct" corrects a wrong parcel. Both
commands refuse numbers that a spreadsheet changed, such as 7.53E+13 and #REF!, and take ="753" as
753.

A CSV file (UTF-8 or UTF-16; commas, semicolons or tabs; up to ` + strconv.Itoa(linefile.MaxLines) + ` lines)
names its columns on the first line: order, carrier, number; others are left alone, so the file may
be one of "seckill orders export". No order is there twice. All lines are checked, with the shop,
before the first order is changed. If lines are wrong, the command prints the first
` + strconv.Itoa(linefile.MaxFaults) + ` of them by number, counts the rest, and changes nothing.

The command may break off, and ships what it says until then. Give it again: it leaves alone what is
shipped so already, and goes on. An order that is refunded in the meantime is not shipped: its line is
named, the others go on.`,
		Example: `  seckill orders ship obbbbbbbbbbbbbbbbbbbbbbbbbb --carrier SF --number SF1000001
  seckill orders ship --csv day.csv --confirm
  seckill orders ship --csv day.csv --stack seckill-prod`,
		Args: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			if !given("csv") {
				return orderArg(false)(cmd, args)
			}
			if len(args) > 0 || given("carrier") || given("number") {
				return errors.New("--csv goes with no ORDER, --carrier or --number: the file has them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.csv != "" {
				return f.shipFile(cmd)
			}
			return f.shipOne(cmd, fulfil.Parcel{Order: args[0], Carrier: f.carrier, Number: f.number})
		},
	}
	f.named(cmd)
	cmd.Flags().StringVar(&f.carrier, "carrier", "", "who brings it, such as SF")
	cmd.Flags().StringVar(&f.number, "number", "", "the carrier's number of the parcel")
	cmd.Flags().StringVar(&f.csv, "csv", "", "file with the columns order, carrier and number")
	cmd.Flags().BoolVar(&f.confirm, "confirm", false, "also ship paid orders, which it confirms")
	return cmd
}

// shipOne ships one order.
func (f *shipFlags) shipOne(cmd *cobra.Command, parcel fulfil.Parcel) error {
	if f.carrier == "" || f.number == "" {
		return errors.New("--carrier and --number are missing: the shopper wants to know both")
	}
	parcel = parcel.Tidied()
	s, err := f.signed(cmd, true)
	if err != nil {
		return err
	}
	done, err := operator.Give[fulfil.Shipped](cmd.Context(), &s.Client,
		&operator.Ship{Parcels: operator.Parcels{parcel}, Confirm: f.confirm})
	if err == nil && len(done.Faults) > 0 {
		err = fmt.Errorf("order %s stays as it is: %s", parcel.Order,
			strings.TrimPrefix(done.Faults[0].What, "order: "))
	}
	return f.print(cmd, s.explain(err, "order "+parcel.Order), &done, func(p *page) {
		if done.Same > 0 {
			p.line("Nothing to do: order %s is shipped so already.", parcel.Order)
		} else {
			p.line("Shipped: order %s, with %s, %s.", parcel.Order, printable(parcel.Carrier), printable(parcel.Number))
		}
	})
}

// parcelLine is a parcel and its line's number.
type parcelLine struct {
	n int
	fulfil.Parcel
}

// shipFile checks all lines of a file, and then ships them.
func (f *shipFlags) shipFile(cmd *cobra.Command) error {
	file, err := os.Open(f.csv)
	if err != nil {
		return err
	}
	defer file.Close()
	s, err := f.signed(cmd, true)
	if err != nil {
		return err
	}
	var lines []parcelLine
	at := map[string]int{}
	err = linefile.Read(file, parcelsFormat, func(n int, cell func(string) string) error {
		p := fulfil.Parcel{Order: cell("order"), Carrier: cell("carrier"), Number: cell("number")}.Tidied()
		if first := at[p.Order]; first > 0 {
			return fmt.Errorf("order %s is on line %d already", p.Order, first)
		}
		at[p.Order] = n
		lines = append(lines, parcelLine{n, p})
		if e := (*seckill.Error)(nil); errors.As(p.Check(), &e) {
			return fmt.Errorf("%s: want %s", e.Field, e.Hint)
		}
		return nil
	})
	sh := shipment{cmd: cmd, shop: s, lines: lines, confirm: f.confirm}
	if err == nil {
		err = sh.check()
	}
	if err != nil {
		return faults(cmd, s, f.csv, err)
	}
	err = sh.ship()
	for _, l := range sh.bad.Faults {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s: line %d: %s\n", f.csv, l.Line, l.What)
	}
	if err == nil && sh.bad.Count > 0 {
		err = faultError{fmt.Errorf("%s: %d shipped, %d were so already, and %s changed in the meantime", f.csv,
			sh.done.Shipped, sh.done.Same, counted(sh.bad.Count, "order", "orders"))}
	}
	return f.print(cmd, err, &sh.done, func(p *page) {
		p.line("Shipped: %s; %d were shipped so already.", counted(sh.done.Shipped, "order", "orders"), sh.done.Same)
	})
}

// shipment ships the lines of a file.
type shipment struct {
	cmd     *cobra.Command
	shop    *shop
	lines   []parcelLine
	confirm bool
	done    fulfil.Shipped
	bad     linefile.Error // orders that changed in the meantime
}

// check has the shop look at every line. A *linefile.Error names the lines that it refuses.
func (s *shipment) check() error {
	var bad linefile.Error
	said := newProgress(s.cmd.ErrOrStderr())
	for at := 0; at < len(s.lines); at += fulfil.MaxParcels {
		batch := s.lines[at:min(at+fulfil.MaxParcels, len(s.lines))]
		done, err := s.call(batch, true)
		if err != nil {
			return err
		}
		for _, fault := range done.Faults {
			bad.Add(batch[fault.At].n, fault.What)
		}
		said.line("%d of %d lines checked", at+len(batch), len(s.lines))
	}
	if bad.Count > 0 {
		return &bad
	}
	return nil
}

// ship ships all lines. It leaves out orders that changed since they were checked.
func (s *shipment) ship() error {
	said := newProgress(s.cmd.ErrOrStderr())
	for at := 0; at < len(s.lines); at += fulfil.MaxParcels {
		batch := s.lines[at:min(at+fulfil.MaxParcels, len(s.lines))]
		for first := batch[0].n; len(batch) > 0; {
			done, err := s.call(batch, false)
			if err != nil {
				return faultError{fmt.Errorf("broken off at line %d, with %d shipped: %w; give the same command "+
					"again: it goes on there", first, s.done.Shipped, err)}
			}
			s.done.Shipped, s.done.Same = s.done.Shipped+done.Shipped, s.done.Same+done.Same
			for _, fault := range done.Faults {
				s.bad.Add(batch[fault.At].n, fault.What)
			}
			if done.Shipped+done.Same > 0 || len(done.Faults) == 0 {
				break
			}
			batch = without(batch, done.Faults) // a fault at the beginning keeps the others from being shipped
		}
		said.line("%d of %d lines shipped", min(at+fulfil.MaxParcels, len(s.lines)), len(s.lines))
	}
	return nil
}

// without returns the lines of a batch that have no fault.
func without(batch []parcelLine, faults []fulfil.Fault) []parcelLine {
	bad := map[int]bool{}
	for _, f := range faults {
		bad[f.At] = true
	}
	var out []parcelLine
	for i := range batch {
		if !bad[i] {
			out = append(out, batch[i])
		}
	}
	return out
}

// call ships some lines, or checks them.
func (s *shipment) call(batch []parcelLine, dry bool) (done fulfil.Shipped, err error) {
	parcels := make([]fulfil.Parcel, len(batch))
	for i := range batch {
		parcels[i] = batch[i].Parcel
	}
	err = tried(s.cmd, s.shop, lineOf(batch[0].n), func(ctx context.Context) (err error) {
		done, err = operator.Give[fulfil.Shipped](ctx, &s.shop.Client,
			&operator.Ship{Parcels: parcels, Confirm: s.confirm, Dry: dry})
		return err
	})
	for _, f := range done.Faults {
		if f.At < 0 || f.At >= len(batch) {
			return done, s.shop.explain(fmt.Errorf("%w: no such parcel", operator.ErrAnswer), "")
		}
	}
	return done, err
}
