package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/erase"
	"github.com/your-org/seckill/shared/seckill"
)

// usersShop is a stack of a user with some closed orders.
func usersShop(t *testing.T, orders int) (*ledger.Ledger, *cloud, *output) {
	t.Helper()
	clock := memory.NewRealClock()
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	for n := range orders {
		o := seckill.Order{ID: seckill.KeyedOrderID("7", "1001", fmt.Sprint(n)), Item: "7", User: "1001", Count: 1,
			Units: []int{n + 1}, Price: 1, Amount: 1,
			Given: seckill.Given{Address: "文三路 1 号"}, Title: "表", Created: clock.Now(), Placed: clock.Now(),
			PayBy: clock.Now().Add(time.Minute), Buckets: 1}
		err := errors.Join(l.Place(t.Context(), o, seckill.MaxLimit), l.BeginClosing(t.Context(), o, seckill.Expired,
			clock.Now(), "unpaid"))
		closing, readErr := l.Order(t.Context(), o.ID)
		must.OK(t, errors.Join(err, readErr, l.GiveBack(t.Context(), closing, clock.Now(), "closed")))
	}
	c, audit := onStack(t, operator.NewUserHandler(erase.New(erase.Deps{Stock: redisstock.New(memory.NewRedis()),
		Ledger: l, Items: memory.NewItems(), Clock: clock})))
	return l, c, audit
}

// TestEraseOfAStack checks that many orders take several steps, that the repair function's log has them and who
// asked, and that the command says what back-ups keep.
func TestEraseOfAStack(t *testing.T) {
	l, c, audit := usersShop(t, 450)
	args := []string{"erase", "1001", "--stack", "sale", "--region", "eu-central-1"}
	code, stdout, stderr := command(t, args...)
	until := time.Now().UTC().Add(35 * 24 * time.Hour).Format(time.DateOnly)
	if code != exitOK || !strings.Contains(stdout, "User 1001: 450 addresses erased in 450 orders.") ||
		!strings.Contains(stdout, "keep addresses until "+until) ||
		!strings.Contains(stderr, "seckill: 200 orders read, 200 addresses erased\n") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if calls := c.called(); calls != "GetCallerIdentity DescribeStacks Invoke Invoke Invoke" {
		t.Errorf("called %s", calls)
	}
	if log := audit.String(); strings.Count(log, caller) != 3 || strings.Count(log, `"user":"1001"`) != 3 ||
		strings.Contains(log, "文三路") {
		t.Errorf("audit log:\n%s", log)
	}
	o, err := l.Order(t.Context(), seckill.KeyedOrderID("7", "1001", "0"))
	if err != nil || o.Address != "" || o.Erased.IsZero() || o.State != seckill.Expired || o.Amount != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	if code, stdout, _ := command(t, append(args, "--json")...); code != exitOK ||
		!strings.Contains(stdout, `"orders": 450`) || !strings.Contains(stdout, `"erased": 0`) {
		t.Errorf("again: exit %d\n%s", code, stdout)
	}
}

// TestSignOutOfAStack: all sessions of a shopper end, and the log says who asked.
func TestSignOutOfAStack(t *testing.T) {
	l, _, audit := usersShop(t, 0)
	for _, digit := range []string{"a", "b"} {
		must.OK(t, l.BeginSession(t.Context(), seckill.Session{User: "1001", ID: strings.Repeat(digit, 32),
			Began: time.Now(), Renewed: time.Now()}))
	}
	args := []string{"sign-out", "1001", "--stack", "sale", "--region", "eu-central-1"}
	if code, stdout, stderr := command(t, args...); code != exitOK || stdout != "2 sessions ended.\n" {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if left := must.Get(l.ListSessions(t.Context(), "1001", 9)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if log := audit.String(); strings.Count(log, caller) != 1 || strings.Count(log, `"ended":2`) != 1 ||
		strings.Count(log, `"user":"1001"`) != 1 {
		t.Errorf("audit log:\n%s", log)
	}
}

// TestEraseIsRefused covers a user with an open order, and an invalid user.
func TestEraseIsRefused(t *testing.T) {
	l, _, _ := usersShop(t, 3)
	open := seckill.Order{ID: seckill.KeyedOrderID("7", "1001", "open"), Item: "7", User: "1001", Count: 1,
		Units: []int{9}, Price: 1, Amount: 1,
		Given: seckill.Given{Address: "文三路 1 号"}, Title: "表", Created: time.Now(), Placed: time.Now(),
		PayBy: time.Now().Add(time.Minute), Buckets: 1}
	must.OK(t, l.Place(t.Context(), open, seckill.MaxLimit))
	refuses(t, exitUsage, "erase *", [][2]string{
		{"1001 --stack sale", "1 of theirs are, the oldest is " + open.ID + ", pending_payment"},
		{"ann --stack sale", `USER "ann": want a user id`},
	})
	o, err := l.Order(t.Context(), seckill.KeyedOrderID("7", "1001", "0"))
	if err != nil || o.Address == "" {
		t.Errorf("an address went all the same: %+v, %v", o, err)
	}
}
