package wspush_test

import (
	"errors"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var payBy = time.Date(2026, 11, 11, 8, 15, 0, 7e6, time.FixedZone("", 8*3600))

func TestMessage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event seckill.OrderEvent
		want  string
	}{
		{seckill.OrderEvent{Order: "oa", Sequence: 1, Item: "7", User: "1001", Count: 1, Price: 100, Amount: 100,
			Title: "a phone", State: seckill.PendingPayment, At: payBy, Cause: "consume", PayBy: payBy},
			`{"order_id":"oa","state":"pending_payment","sequence":1,"pay_by":"2026-11-11T00:15:00Z","count":1,"amount":1.00}`},
		{seckill.OrderEvent{Order: "oa", Sequence: 1, User: "1001", State: seckill.Rejected, At: payBy,
			Reason: seckill.CodeSoldOut}, `{"order_id":"oa","state":"rejected","sequence":1,"reason":"sold_out"}`},
	} {
		must.Equal(t, tt.want, string(wspush.Message(&tt.event)), tt.event)
	}
}

func TestOffered(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"seckill.v1, 7.1.n.mac": "7.1.n.mac", "seckill.v1,7.1.n.mac": "7.1.n.mac", " seckill.v1 ,x ": "x",
		"seckill.v1, a, b": "a, b", // no pass has a comma
		"":                 "", "seckill.v1": "", "7.1.n.mac": "", "7.1.n.mac, seckill.v1": "", "seckill.v2, x": "",
	} {
		got, err := wspush.Offered(header)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, seckill.ErrPass) {
			t.Errorf("%q: %q, %v; want %q", header, got, err, want)
		}
	}
}
