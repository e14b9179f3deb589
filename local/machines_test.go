package local_test

import (
	"bytes"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestMachines: only with its option does a system treat a crowd's machines as machines on the internet, each with its
// own address.
func TestMachines(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", net.JoinHostPort(local.MachineAddr(1).String(), "0")); err != nil {
		t.Skip("this system has not all of 127.0.0.0/8:", err)
	} else {
		l.Close()
	}
	for _, simulated := range []bool{true, false} {
		items := local.DemoItems(time.Now(), 5, 1)
		local.SetChecks(items, seckill.ChecksStandard)
		w := start(t, local.Options{Items: items, Machines: simulated})
		must.OK(t, w.Ledger.PutBlock(t.Context(), seckill.Block{Subject: "net:198.18.0.1/32", Item: local.DemoLive,
			Reason: "test", By: "test", Made: time.Now(), Until: time.Now().Add(time.Hour)}))
		for n, want := range map[int]int{1: http.StatusForbidden, 2: http.StatusOK} {
			if !simulated {
				want = http.StatusOK
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+"/seckill/challenge",
				bytes.NewReader([]byte(`{"seckill_id":"`+local.DemoLive+`"}`)))
			must.OK(t, err)
			r.Header.Set("Authorization", "Bearer "+w.token("1001"))
			from := net.Dialer{LocalAddr: &net.TCPAddr{IP: local.MachineAddr(n).AsSlice()}}
			client := http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}}
			resp, err := client.Do(r)
			must.OK(t, err)
			resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("machine %d, simulated %v: %s, want %d", n, simulated, resp.Status, want)
			}
		}
	}
}
