package operator_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	shopflow "github.com/your-org/seckill/shared/flow/front/shop"
	"github.com/your-org/seckill/shared/flow/office/acts"
	"github.com/your-org/seckill/shared/flow/office/fulfil"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPagesFitAnAnswer: the largest page of each list, and the largest command that ships, with the longest texts, fits
// what Lambda answers through API Gateway: 6 MB, in which the page is a JSON text (ADR 49).
func TestPagesFitAnAnswer(t *testing.T) {
	const most = 6_000_000
	text := func(n int) string { return strings.Repeat(`"`, n) } // 4 bytes of an answer, as the longest character
	now := time.Date(2026, 11, 11, 2, 0, 0, 123456789, time.UTC)
	id := "o" + strings.Repeat("a", 40)
	number := strings.Repeat("9", 19)
	order := operator.Order{ID: id, Item: number, Activity: number, Title: text(seckill.MaxTitle), User: "-" + number,
		Name: text(seckill.MaxName), Count: 50, Held: 50, Price: 1 << 60, List: 1 << 60,
		Cover: strings.Repeat("a", seckill.MaxCoverLength), Version: 1 << 60, Amount: 1 << 60,
		State: seckill.PendingPayment, Created: now, PayBy: now, Changed: now, Reason: seckill.CodeNotCancelable,
		Carrier: text(seckill.MaxParcel), Number: text(seckill.MaxParcel), Refund: text(shopflow.MaxReason),
		Hidden: true}
	cut := text(seckill.MaxAuditText)
	entry := seckill.AuditEntry{Day: "2026-11-11", Seq: strings.Repeat("a", seckill.MaxAuditPlace), At: now,
		Kind: seckill.AuditBegun, ID: id,
		Who: text(256), Roles: "viewer,editor,operator,finance,auditor", Act: "orders",
		Subject: cut, Before: cut, After: cut, Why: cut, Result: "unchanged"}
	act := operator.Act{ID: id, At: now, Item: number, Action: "purchase", Result: "not_started", Status: "suspicious",
		Rules: strings.Repeat("a", 200), User: number, UserHash: strings.Repeat("a", 64),
		NetworkHash: strings.Repeat("a", 64), Agent: text(seckill.MaxActAgent), Referrer: text(seckill.MaxActAgent),
		TookMs: 1 << 60, Handled: now, By: text(256), Note: text(seckill.MaxActNote)}
	block := operator.Block{Subject: strings.Repeat("a", 43), Item: number, Reason: text(seckill.MaxBlockReason),
		Until: now, By: text(seckill.MaxBlockAuthor), Made: now}
	var options seckill.Options
	for range seckill.MaxOptions {
		options = append(options, seckill.Option{Name: text(seckill.MaxOptionName),
			Value: text(seckill.MaxOptionValue)})
	}
	left := seckill.MaxStock
	item := operator.ItemRow{ID: number, Title: text(seckill.MaxTitle), State: seckill.ItemWaiting, Price: 1 << 60,
		SalePrice: 1 << 60, Start: now, End: now, Stock: seckill.MaxStock, Left: &left, Limit: seckill.MaxLimit,
		Checks: seckill.ChecksStandard, Options: options.String(), Spans: true}
	for name, page := range map[string]any{
		"orders": operator.OrderList{Orders: slices.Repeat([]operator.Order{order}, fulfil.MaxPage)},
		"audit":  operator.AuditPage{Entries: slices.Repeat([]seckill.AuditEntry{entry}, seckill.MaxAuditPage)},
		"acts":   operator.ActPage{Acts: slices.Repeat([]operator.Act{act}, acts.MaxPage)},
		"items":  operator.ItemRows{Items: slices.Repeat([]operator.ItemRow{item}, seckill.MaxItems)},
		"blocks": operator.BlockPage{Blocks: slices.Repeat([]operator.Block{block}, operator.MaxBlockPage)},
		"a command that ships": operator.Ship{Parcels: slices.Repeat(operator.Parcels{{Order: id,
			Carrier: text(seckill.MaxParcel), Number: text(seckill.MaxParcel)}}, fulfil.MaxParcels)},
	} {
		b, err := json.Marshal(page)
		if n := operator.TextSize(b); err != nil || n > most {
			t.Errorf("%s: %v, %d bytes, at most %d wanted", name, err, n, most)
		} else {
			t.Logf("%s: %d bytes, of %d", name, n, most)
		}
	}
}
