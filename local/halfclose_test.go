package local_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAClientThatClosesItsSide checks that a client which closes its sending half after the request gets its answer.
func TestAClientThatClosesItsSide(t *testing.T) {
	t.Parallel()
	const clients = 200
	var log logs
	w := startChanged(t, local.Options{Items: []seckill.Listing{live("5", clients, 1)},
		Log: telemetry.NewLog(&log, slog.LevelInfo)}, func(*local.System) {})
	host := addrOf(w.System)
	statuses := map[int]int{}
	for i := range clients {
		body := `{"seckill_id":"5","count":1,"address":"` + address + `"}`
		request :=
			fmt.Sprintf(
				"POST /seckill/buy HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
					"application/json\r\nContent-Length: %d\r\n\r\n%s",
				host, w.token(fmt.Sprint(1000+i)), len(body), body)
		conn, err := net.Dial("tcp", host)
		must.OK(t, err)
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err = conn.Write([]byte(request)); err == nil {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		must.OK(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must.OK(t, err)
		answer.Body.Close()
		conn.Close()
		statuses[answer.StatusCode]++
	}
	if statuses[200] != clients || strings.Contains(log.String(), `"level":"ERROR"`) {
		t.Errorf("answers by status: %v, want %d times 200; log:\n%.1000s", statuses, clients, log.String())
	}
}
