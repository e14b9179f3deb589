//go:build real

package functions_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/your-org/seckill/functions/lambdatest"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAddressesGoWithTheirTime checks that repair's schedule erases the addresses of a sale that ended as long ago as
// its setting says, and reports it in its metrics; without the setting, or before that time, it erases none.
func TestAddressesGoWithTheirTime(t *testing.T) {
	w := newRealDeployment(t)
	orders, items, ended := ledger.New(w.rows), w.rows.Items(),
		time.Now().AddDate(0, 0, -31).UTC().Truncate(time.Second)
	it := live("1001", 10)
	it.Start, it.End, it.CreateTime = ended.Add(-time.Hour), ended, ended.Add(-time.Hour)
	o := drivertest.Order(it.ID, "7", it.Start, 1)
	o.Network = netip.MustParseAddr("2001:db8::7")
	address := o.Address
	must.OK(t, items.Put(t.Context(), it, nil), drivertest.Place(t.Context(), orders, o, seckill.Paid))
	for _, c := range []struct {
		days, networks, address string
		network                 bool
	}{{"", "", address, true}, {"0", "0", address, true}, {"32", "32", address, true}, {"32", "31", address, false},
		{"31", "31", "", false}} {
		w.env["ADDRESS_RETENTION_DAYS"], w.env["NETWORK_RETENTION_DAYS"] = c.days, c.networks
		f := lambdatest.Start(t, binary(t, "repair"), w.env)
		run(t, f, recorded(t, "schedule.json"), "null")
		if got, err := orders.Order(t.Context(), o.ID); err != nil || got.Address != c.address ||
			got.State != seckill.Paid {
			t.Errorf("%q days: address %q in %s, %v, want %q", c.days, got.Address, got.State, err, c.address)
		} else if got.Network.IsValid() != c.network {
			t.Errorf("%q days: network address %q", c.networks, got.Network)
		}
		if c.address == "" && !f.Says(`"addresses_erased":1`) {
			t.Errorf("its metrics have no erased address:\n%s", f.Output())
		}
	}
	marked, err := items.Get(t.Context(), it.ID)
	if err != nil || marked.AddressesErased.IsZero() || marked.Version != it.Version {
		t.Errorf("the item after it: %+v, %v, want it marked, of version %d", marked, err, it.Version)
	}
}
