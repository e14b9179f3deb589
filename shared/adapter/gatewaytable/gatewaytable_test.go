package gatewaytable_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"seckill/shared/adapter/alipay/fakegateway"
	"seckill/shared/adapter/alipay/fakegateway/storetest"
	"seckill/shared/adapter/gatewaytable"
	"seckill/shared/adapter/ledger"
	"seckill/shared/adapter/memory"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// embedded are rows with DynamoDB's manners.
func embedded() *memory.Rows {
	return memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(start), Tables: []ledger.Table{gatewaytable.Table}})
}

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) fakegateway.Store { return gatewaytable.New(embedded()) })
}

func paid() fakegateway.Record {
	return fakegateway.Record{Trade: fakegateway.Trade{OutTradeNo: "a", Status: fakegateway.StatusSuccess, Created: start, Expires: start, Paid: start}, Lapses: start,
		Notify: fakegateway.Notify{ID: "n", Next: start}}
}

func TestARowThatIsNotAsItShouldBeIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		set  ledger.Row
		want string
	}{
		"another version": {ledger.Row{"v": int64(2)}, "version v=2"},
		"another type":    {ledger.Row{"amount": "1"}, "attribute amount"},
		"no time":         {ledger.Row{"notify_at": "soon"}, "attribute notify_at"},
	} {
		rows := embedded()
		s := gatewaytable.New(rows)
		if err := s.Save(t.Context(), paid()); err != nil {
			t.Fatal(err)
		}
		key := ledger.Key{Table: gatewaytable.TableTrades, PK: "a"}
		if err := rows.Transact(t.Context(), []ledger.Write{{Key: key, Op: ledger.OpUpdate, Set: c.set}}); err != nil {
			t.Fatal(err)
		}
		if _, found, err := s.Load(t.Context(), "a"); found || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, %v; want an error with %q", name, found, err, c.want)
		}
	}
}

// attributeRow matches a row of docs/DATA.md's list of attributes.
var attributeRow = regexp.MustCompile(`(?m)^\| (\w+) \| (S|N|L|SS) \|`)

func TestDataPageListsWhatIsWritten(t *testing.T) {
	page, err := os.ReadFile("../../../docs/DATA.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The fake gateway's table\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]string{}
	for _, m := range attributeRow.FindAllStringSubmatch(section, -1) {
		listed[m[1]] = m[2]
	}
	rows := embedded()
	if err := gatewaytable.New(rows).Save(t.Context(), paid()); err != nil {
		t.Fatal(err)
	}
	row, _, err := rows.Get(t.Context(), ledger.Key{Table: gatewaytable.TableTrades, PK: "a"})
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for attr, v := range row {
		written[attr] = "S"
		if _, ok := v.(int64); ok {
			written[attr] = "N"
		}
	}
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("docs/DATA.md (+) and what is written (-) differ:\n%s", diff)
	}
	for _, word := range []string{gatewaytable.TableTrades, gatewaytable.IndexNotifiesDue} {
		if !strings.Contains(section, "`"+word+"`") {
			t.Errorf("docs/DATA.md does not name %s", word)
		}
	}
}
