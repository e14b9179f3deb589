package main

import "github.com/spf13/cobra"

func ordersCommand() *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use:   "orders",
		Short: "List, confirm, ship, annotate, hide and export orders",
		Long: `Do what is left to do for orders after they are paid. Staff confirm a paid order and ship it, with
carrier and number. Its shopper says that it came, or 15 days pass; 7 days later it is completed. Money
goes back with "seckill refund", and "seckill events delivery ORDER" says where to ship.

An order's history has who changed it, and when. Every command may be repeated. No answer has an
address. Times are in UTC+8.`,
		Example: `  seckill orders list --item 2002 --state paid
  seckill orders ship obbbbbbbbbbbbbbbbbbbbbbbbbb --carrier SF --number SF1000001 --confirm
  seckill orders export --item 2002 --state paid --csv day.csv
  seckill orders ship --csv day.csv --confirm`,
	}
	return f.group(cmd, listOrdersCommand(&f), shipOrdersCommand(&f), exportOrdersCommand(&f))
}
