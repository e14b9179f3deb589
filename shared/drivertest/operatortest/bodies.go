// Package operatortest has a right request of each command, for tests that try every role with every command.
package operatortest

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Order is the order that the requests are about.
var Order = seckill.KeyedOrderID("7", "1001", "k")

var (
	item     = `,"item":"7"`
	order    = `,"order":"` + Order + `"`
	why      = `,"why":"a test"`
	day      = `,"day":"2026-11-10"`
	page     = `,"limit":1`
	activity = `,"activity":"70"`
	person   = `,"subject":"1001"`
	act      = `,"act":"` + seckill.ActID(time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC), "ab") + `"`
)

// dot is a PNG picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// arguments are those that a command must have.
var arguments = map[string]string{
	"import": `,"items":[]`, "export": "", "stop": item, "resume": item, "add-stock": item + `,"stock":5`, "health": "",
	"item": item, "items": "", "activities": page, "activity": activity, "save-activity": `,"save":{"id":"70"}`,
	"delete-activity": activity, "copy-activity": activity + `,"start":"2030-11-18T12:00:00Z"`, "offline": activity,
	"online": activity,
	"open":   "", "case": order, "refund": order + why, "withdraw": order + why, "again": order + why,
	"ask":          order + why,
	"record-trade": order + why + `,"trade_no":"9"`, "reconcile": day, "reconciled": day, "erase": `,"user":"1001"`,
	"tell": order, "replay": item + day, "delivery": order, "counts": item, "recount": item, "redeliver": "",
	"block": `,"blocks":[{"subject":"1001","reason":"r"}]`, "unblock": person, "blocks": page, "acts": page, "act": act,
	"handle": act + why, "audit": page, "orders": page, "order": order, "confirm": order,
	"ship": `,"parcels":[{"order":"` + Order + `","carrier":"sf","number":"1"}]`, "note": order + why,
	"picture": `,"data":"` + dot + `"`,
	"hide":    order + why, "level": item, "live": item, "sessions": "", "end-sessions": `,"person":"nobody"`,
	"redrive": `,"queue":"orders"`,
}

// Body returns the body of a request to give a command; "" for a command that is missing here.
func Body(command string) string {
	more, ok := arguments[command]
	if !ok {
		return ""
	}
	return `{"operator":{"command":"` + command + `"` + more + `}}`
}
