package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/shared/adapter/operator"
)

func exportOrdersCommand(f *orderFlags) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export --item ID --csv FILE",
		Short: "Write all orders of an item, or those that the filters choose, to a .csv file",
		Long: `Write all orders of an item or a user, or those that the filters choose, to a CSV file; - is standard
output. The file is there whole or not at all, and takes no more memory for a million orders. It is
UTF-8 with the mark that spreadsheets look for. A cell that a spreadsheet would take for a formula,
because it begins with = + - @, a tab or a line's end, gets a ' before it. It has no addresses.

Fill in carrier and number, and "seckill orders ship --csv" takes the same file.`,
		Example: `  seckill orders export --item 2002 --csv orders.csv
  seckill orders export --item 2002 --state paid --csv day.csv
  seckill orders export --user 1001 --csv -`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query()
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
			n := 0
			err = wholeFile(file, cmd.OutOrStdout(), func(w io.Writer) error {
				out := csv.NewWriter(w)
				_ = out.Write(orderColumns) // Flush reports errors
				_, err := eachOrder(cmd, s, q, "", 0, func(page []operator.Order) error {
					n += len(page)
					for i := range page {
						_ = out.Write(orderCells(&page[i]))
					}
					out.Flush()
					return out.Error()
				})
				out.Flush()
				return errors.Join(err, out.Error())
			})
			if file == "-" {
				return s.explain(err, "")
			}
			return f.print(cmd, s.explain(err, ""), map[string]any{"orders": n, "file": file}, func(p *page) {
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

// wholeFile writes a text that begins with the mark of UTF-8 to a file, which is there whole or not at all; - is out.
func wholeFile(name string, out io.Writer, write func(io.Writer) error) error {
	if name == "-" {
		return write(out)
	}
	err := fileBy(os.Rename, name, func(part io.Writer) error {
		w := bufio.NewWriter(part)
		_, _ = w.WriteString("\ufeff") // Flush reports errors
		return errors.Join(write(w), w.Flush())
	})
	if err != nil {
		return fmt.Errorf("%s is not written: %w", name, err)
	}
	return nil
}
