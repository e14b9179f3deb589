//go:build real

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/api/csvfile"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// sheetPrograms open in.csv and save it as out/in.csv, by way of a spreadsheet's own format or with other marks.
// e2e/sheets/run.sh installs what they need.
var sheetPrograms = map[string]string{
	"LibreOffice, .xlsx": `soffice --headless --convert-to xlsx --outdir by in.csv &&
		soffice --headless --convert-to csv --outdir out by/in.xlsx`,
	"LibreOffice, .ods": `soffice --headless --convert-to ods --outdir by in.csv &&
		soffice --headless --convert-to csv --outdir out by/in.ods`,
	"LibreOffice, semicolons": `soffice --headless --infilter='CSV:44,34,76' \
		--convert-to 'csv:Text - txt - csv (StarCalc):59,34,76' --outdir out in.csv`,
	"LibreOffice, Unicode text": `soffice --headless --infilter='CSV:44,34,76' \
		--convert-to 'csv:Text - txt - csv (StarCalc):9,34,UNICODE' --outdir out in.csv`,
	"pandas": `mkdir out && "$SHEETS_PYTHON" -c 'import pandas as p
p.read_csv("in.csv").to_csv("out/in.csv", index=False)'`,
	"pandas, .xlsx": `mkdir out && "$SHEETS_PYTHON" -c 'import pandas as p
p.read_csv("in.csv").to_excel("by.xlsx", index=False)
p.read_excel("by.xlsx").to_csv("out/in.csv", index=False)'`,
}

// savedBy returns the file that a program saves of another.
func savedBy(t *testing.T, program string, file []byte) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "in.csv"), file, 0o600))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", sheetPrograms[program])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+os.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, said)
	}
	return filepath.Join(dir, "out", "in.csv")
}

// sheetOrders makes shipped orders whose users, titles and numbers programs would change, and returns them.
func sheetOrders(t *testing.T, s *orderShop) map[string]seckill.Order {
	t.Helper()
	want := map[string]seckill.Order{}
	user := "1234567890123456789"
	for i, text := range strings.Fields("75312345678901 00753123456789012345 9007199254740993 1e5 3-4 1/2 =1+1 +86 " +
		"TRUE NA DEC12 SF1 ＝1 12:30 1.50 5% 128") {
		o := s.orderOf(user[:1+i], text, true)
		o.Carrier, o.Number = "顺丰", "SF"+text
		for _, number := range []string{text, o.Number} { // some cannot be a parcel's number
			if code, _, _ := command(t, "orders", "ship", o.ID, "--carrier", o.Carrier, "--number", number, "--confirm",
				"--url", s.url); code == exitOK {
				o.Number = number
				break
			}
		}
		want[o.ID] = o
	}
	return want
}

// TestSheets: an export that programs opened and saved still has its ids and texts; orders ship and blocks import take
// it. Numbers without the mark do not survive, and are refused.
func TestSheets(t *testing.T) {
	if os.Getenv("SHEETS_PYTHON") == "" {
		t.Skip("e2e/sheets/run.sh runs it")
	}
	s := newOrderShop(t)
	want := sheetOrders(t, s)
	file := filepath.Join(t.TempDir(), "orders.csv")
	s.try(step{"export --item 2002 --csv " + file, exitOK,
		fmt.Sprintf("Exported %d orders to %s.\n", len(want), file), ""})
	export, err := os.ReadFile(file)
	must.OK(t, err)
	bare := []byte("subject,reason\n1234567890123456789,x\n12,x\n")
	for program := range sheetPrograms {
		saved := savedBy(t, program, export)
		s.try(step{"ship --csv " + saved, exitOK,
			fmt.Sprintf("Shipped: 0 orders; %d were shipped so already.\n", len(want)), ""})
		compareSaved(t, program, saved, want)
		if !strings.HasPrefix(program, "LibreOffice") {
			continue // pandas keeps a whole column of whole numbers
		}
		in, err := os.Open(savedBy(t, program, bare))
		must.OK(t, err)
		var bad *linefile.Error
		_, err = linefile.ReadBlocks(in, "x", time.Now())
		if !errors.As(err, &bad) || bad.Count != 1 ||
			!strings.Contains(bad.Faults[0].What, "a spreadsheet shortened it") {
			t.Errorf("%s: a long number without the mark: %v, %+v", program, err, bad)
		}
		must.OK(t, in.Close())
	}
}

// compareSaved reads a saved export, and its users as a file of blocks.
func compareSaved(t *testing.T, program, saved string, want map[string]seckill.Order) {
	t.Helper()
	text, err := os.ReadFile(saved)
	must.OK(t, err)
	columns := []string{"order", "carrier", "number", "item", "title", "user"}
	r, err := csvfile.NewReader(bytes.NewReader(text), linefile.MaxLine, csvfile.Format{Required: columns,
		Numbers: []string{"number", "item", "user"}})
	must.OK(t, err)
	n := 0
	row, err := r.Next()
	for ; err == nil; row, err = r.Next() {
		n++
		o := want[row.Cell("order")]
		for i, is := range []string{o.ID, o.Carrier, o.Number, o.Item, o.Title, o.User} {
			if got := row.Cell(columns[i]); got != is {
				t.Errorf("%s: %s is %q, want %q", program, columns[i], got, is)
			}
		}
	}
	if !errors.Is(err, io.EOF) || n != len(want) {
		t.Errorf("%s: %d rows, %v\n%s", program, n, err, text)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil || !slices.Contains(rows[0], "user") {
		return // other marks, which are read above
	}
	subject, reason := slices.Index(rows[0], "user"), slices.Index(rows[0], "title")
	rows[0][subject], rows[0][reason] = "subject", "reason"
	var blocks bytes.Buffer
	w := csv.NewWriter(&blocks)
	for _, row := range rows {
		must.OK(t, w.Write([]string{row[subject], row[reason]}))
	}
	w.Flush()
	lines, err := linefile.ReadBlocks(&blocks, "x", time.Now())
	if err != nil || len(lines) != len(want) {
		t.Errorf("%s: %d blocks, %v", program, len(lines), err)
	}
	for _, l := range lines {
		user, _ := l.Subject.User()
		if !slices.ContainsFunc(slices.Collect(maps.Values(want)), func(o seckill.Order) bool {
			return o.User == user && o.Title == l.Reason
		}) {
			t.Errorf("%s: user %s is blocked for %s", program, user, l.Reason)
		}
	}
}
