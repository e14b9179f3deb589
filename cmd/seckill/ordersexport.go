package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/csvfile"
	"github.com/your-org/seckill/shared/api/operator"
)

func exportOrdersCommand(f *orderFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export --csv FILE",
		Short: "Write all orders, or those that the filters choose, to a .csv file",
		Long: `Write all orders, or those that the filters choose, to a CSV file, newest first; - is standard
output. The file is there whole or not at all, and takes no more memory for a million orders. If the
command breaks off, give it again within a day: it goes on from what FILE.part has, which you may
remove to begin anew. The file is UTF-8 with the mark that spreadsheets look for. A text or long id
that a spreadsheet would take for a formula, a number or a date gets a ' before it, which every
import of this tool takes away. The file has no addresses.

Fill in carrier and number, and "seckill orders ship --csv" takes the same file.`,
		Example: `  seckill orders export --item 2002 --csv orders.csv
  seckill orders export --item 2002 --state paid --csv day.csv
  seckill orders export --user 1001 --csv -`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := f.check()
			switch {
			case err != nil:
				return err
			case file == "":
				return errors.New("--csv FILE is missing")
			case f.json && file == "-":
				return errors.New("--json and --csv - both want the standard output: give one of them")
			}
			s, err := f.signed(cmd, false)
			if err != nil {
				return err
			}
			if file == "-" {
				w := csv.NewWriter(cmd.OutOrStdout())
				_ = w.Write(orderColumns) // Flush reports errors
				unreadable := 0
				_, err := eachOrder(cmd, s, f.ListOrders, "", 0, func(page *operator.OrderList) error {
					unreadable += page.Unreadable
					return writeOrders(w, page.Orders)
				})
				w.Flush()
				leftOut(cmd, unreadable)
				return s.explain(errors.Join(err, w.Error()), "")
			}
			p, err := exportTo(cmd, s, f.ListOrders, file)
			leftOut(cmd, p.Unreadable)
			done := map[string]any{"orders": p.Things, "unreadable": p.Unreadable, "file": file}
			return f.print(cmd, err, done, func(out *page) {
				out.line("Exported %s to %s.", counted(p.Things, "order", "orders"), printable(file))
			})
		},
	}
	f.filters(cmd)
	cmd.Flags().StringVar(&file, "csv", "", "the file; - for standard output")
	return cmd
}

// leftOut says how many orders an export lacks because they cannot be read.
func leftOut(cmd *cobra.Command, orders int) {
	if orders > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s cannot be read\n", counted(orders, "order", "orders"))
	}
}

var orderColumns = []string{"order", "carrier", "number", "state", "status", "older", "item", "title", "user", "count",
	"held", "yuan", "made", "pay_by", "changed", "refund_asked", "hidden", "shopper_name", "variant"}

func writeOrders(w *csv.Writer, page []operator.Order) error {
	for i := range page {
		_ = w.Write(orderCells(&page[i])) // Flush reports errors
	}
	w.Flush()
	return w.Error()
}

// exportTo writes the orders that a query chooses to a file, and returns what the file has and lacks.
func exportTo(cmd *cobra.Command, s *shop, q operator.ListOrders, name string) (partState, error) {
	what, err := json.Marshal([]any{s.name, q})
	if err != nil {
		return partState{}, err
	}
	p, err := openPart(name, string(what))
	if err != nil {
		return partState{}, fmt.Errorf("%s is not written: %w", name, err)
	}
	if p.Parts > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: goes on after %s, which %s.part has\n",
			counted(p.Things, "order", "orders"), name)
	}
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	if p.Parts == 0 {
		text.WriteString("\ufeff")
		_ = w.Write(orderColumns) // to memory
	}
	if !p.whole() {
		_, err = eachOrder(cmd, s, q, p.Next, 0, func(page *operator.OrderList) error {
			if err := writeOrders(w, page.Orders); err != nil {
				return err
			}
			defer text.Reset()
			p.Unreadable += page.Unreadable
			return p.add(text.Bytes(), len(page.Orders), page.Next)
		})
	}
	err = p.end(s.explain(err, ""))
	return p.partState, err
}

func orderCells(o *operator.Order) []string {
	hidden := ""
	if o.Hidden {
		hidden = "hidden"
	}
	text, id := csvfile.Text, csvfile.ID
	return []string{o.ID, text(o.Carrier), text(o.Number), string(o.State), strconv.Itoa(o.State.Status()), older(o),
		id(o.Item), text(o.Title), id(o.User), strconv.Itoa(o.Count), strconv.Itoa(o.Held), o.Amount.Yuan(),
		utc(o.Created), utc(o.PayBy), utc(o.Changed), text(o.Refund), hidden, text(o.Name), text(o.Options)}
}

// utc writes a time for programs; "" for the zero time.
func utc(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
