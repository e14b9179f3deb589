package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/api/operator"
)

func exportOrdersCommand(f *orderFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export --item ID --csv FILE",
		Short: "Write all orders of an item, or those that the filters choose, to a .csv file",
		Long: `Write all orders of an item or a user, or those that the filters choose, to a CSV file; - is standard
output. The file is there whole or not at all, and takes no more memory for a million orders. If the
command breaks off, give it again within a day: it goes on from what FILE.part has, which you may
remove to begin anew. The file is UTF-8 with the mark that spreadsheets look for. A cell that a
spreadsheet would take for a formula, because it begins with = + - @, a tab or a line's end, gets a '
before it. It has no addresses.

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
				_, err := eachOrder(cmd, s, f.ListOrders, "", 0, func(page []operator.Order, _ string) error {
					return writeOrders(w, page)
				})
				w.Flush()
				return s.explain(errors.Join(err, w.Error()), "")
			}
			n, err := exportTo(cmd, s, f.ListOrders, file)
			return f.print(cmd, err, map[string]any{"orders": n, "file": file}, func(p *page) {
				p.line("Exported %s to %s.", counted(n, "order", "orders"), printable(file))
			})
		},
	}
	f.filters(cmd)
	cmd.Flags().StringVar(&file, "csv", "", "the file; - for standard output")
	return cmd
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

// exportTo writes the orders that a query chooses to a file, and returns how many they are.
func exportTo(cmd *cobra.Command, s *shop, q operator.ListOrders, name string) (orders int, err error) {
	what, err := json.Marshal([]any{s.name, q})
	if err != nil {
		return 0, err
	}
	p, err := openPart(name, string(what))
	if err != nil {
		return 0, fmt.Errorf("%s is not written: %w", name, err)
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
		_, err = eachOrder(cmd, s, q, p.Next, 0, func(page []operator.Order, next string) error {
			if err := writeOrders(w, page); err != nil {
				return err
			}
			defer text.Reset()
			return p.add(text.Bytes(), len(page), next)
		})
	}
	return p.Things, p.end(s.explain(err, ""))
}

func orderCells(o *operator.Order) []string {
	hidden := ""
	if o.Hidden {
		hidden = "hidden"
	}
	cells := []string{o.ID, o.Carrier, o.Number, string(o.State), strconv.Itoa(o.State.Status()), older(o), o.Item,
		o.Title, o.User, strconv.Itoa(o.Count), strconv.Itoa(o.Held), o.Amount.Yuan(), at(o.Created), at(o.PayBy),
		at(o.Changed), o.Refund, hidden, o.Name, o.Options}
	for i, c := range cells {
		cells[i] = harmless(c)
	}
	return cells
}

// harmless puts a ' before a cell that a spreadsheet would take for a formula.
func harmless(cell string) string {
	if strings.IndexAny(cell, "=+-@\t\r\n＝＋－＠") == 0 {
		return "'" + cell
	}
	return cell
}

// unquoted takes back what harmless did.
func unquoted(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && harmless(rest) != rest {
		return rest
	}
	return cell
}
