package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/flow/sale/buy"
	"github.com/your-org/seckill/shared/seckill"
)

// refusing is a purchase step for a sold-out item.
type refusing struct{ err error }

func (r refusing) Buy(context.Context, buy.Purchase) (string, error) { return "", r.err }

// discard is a reusable ResponseWriter, so that the benchmarks measure only the handler.
type discard struct {
	header http.Header
	status int
	bytes  int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { d.bytes += len(b); return len(b), nil }

// BenchmarkBuySoldOut measures a whole refused purchase: token, body, flow, problem document. Target: 15 µs.
func BenchmarkBuySoldOut(b *testing.B) {
	benchmark(b, refusing{seckill.Refuse(seckill.CodeSoldOut)}, http.StatusConflict, nil)
}

// BenchmarkBuyAccepted measures a whole accepted purchase without the flow's own work.
func BenchmarkBuyAccepted(b *testing.B) { benchmark(b, &stubs{}, http.StatusOK, nil) }

// BenchmarkBuyAcceptedWithPass is that of a shop that pushes. Target: 4 allocations and 2 µs more.
func BenchmarkBuyAcceptedWithPass(b *testing.B) {
	benchmark(b, &stubs{}, http.StatusOK, pushing(system.NewIDs(nil)))
}

func benchmark(b *testing.B, flow Buyer, status int, push *Push) {
	auth := verifier()
	refusals := NewRefusals(func(seckill.Reason) {}, auth, slog.New(slog.DiscardHandler), fixedClock{})
	h := NewBuy(flow, auth, Options{CORSOrigin: "https://shop.example.com", Refusals: refusals, Push: push})
	text := purchaseBody(itemID, "1", "北京市海淀区中关村大街1号")
	body := strings.NewReader(text)
	r, err := http.NewRequest(http.MethodPost, "/seckill/buy", io.NopCloser(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", bearer(alice))
	r.Header.Set("Accept-Language", "zh-CN,zh;q=0.9,en;q=0.8")
	r = r.WithContext(seckill.WithTrace(r.Context(), "0af7651916cd43dd8448eb211c80319c"))
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		body.Reset(text)
		h.ServeHTTP(w, r)
	}
	if w.status != status {
		b.Fatalf("status %d, want %d", w.status, status)
	}
}
