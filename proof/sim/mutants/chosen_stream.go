package main

const (
	tellGo    = "shared/flow/front/tell/tell.go"
	countGo   = "shared/flow/office/count/count.go"
	recountGo = "shared/flow/office/count/recount.go"
	countsGo  = "shared/driver/ledger/counts.go"
	streamGo  = "shared/driver/stream/stream.go"
	eventGo   = "shared/seckill/orderevent.go"
	movesGo   = "shared/seckill/count.go"
	deliverGo = "shared/flow/front/deliver/deliver.go"
	webhookGo = "shared/seckill/webhook.go"
)

// chosenStream change what becomes of the orders' stream: events, webhooks and counts.
var chosenStream = []choice{
	{"refused-event-told", "an event that the bus refuses counts as told", tellGo,
		`			if err != nil {
				return begin + i`, `			if err != nil && i < 0 {
				return begin + i`},
	{"failed-change-skipped", "the change whose event failed does not come back, those behind it do", tellGo,
		`		return of[failed], err`, `		return of[failed] + 1, err`},
	{"event-between-batches", "an event between two batches of the bus is lost", tellGo,
		`begin += seckill.MaxEvents`, `begin += seckill.MaxEvents + 1`},
	{"only-the-last-entry-told", "of several new entries of a history only the last one is told", eventGo,
		`	for i := max(c.Before, 0); i`, `	for i := max(c.Before, len(o.History)-1, 0); i`},
	{"first-entry-untold", "the first entry of a history is not told", eventGo,
		`	for i := max(c.Before, 0); i`, `	for i := max(c.Before, 1); i`},
	{"event-from-itself", "an event says that an order was in its new state before", eventGo,
		`			e.From = o.History[i-1].State`, `			e.From = o.History[i].State`},
	{"history-told-longer", "the row before a write is taken for one entry longer", "shared/driver/ledger/changes.go",
		`Before: len(told)}`, `Before: len(told) + 1}`},
	{"done-by-one-is-done", "a change that one reader of the stream has done does not come back to the other", streamGo,
		`done, err = min(done, n), errors.Join(err, failed)`, `done, err = max(done, n), errors.Join(err, failed)`},
	{"fault-of-one-forgotten", "a fault of the first reader is forgotten if the second one has none", streamGo,
		`		done, err = min(done, n), errors.Join(err, failed)`, `		done, err = min(done, n), failed`},
	{"unreadable-shifts-the-rest", "a row that cannot be read makes a change before the failed one come back", streamGo,
		`		return of[n], err`, `		return n, err`},
	{"repeat-counts-again", "a change that the stream repeats counts again", countGo,
		`		if !was.Since.Equal(c.Since) {`, `		if counted > 0 {`},
	{"old-marks-believed", "a recount takes what an earlier count had for counted", countGo,
		`		if !was.Since.Equal(c.Since) {`, `		if c.Since.IsZero() {`},
	{"older-image-counts", "of two changes of an order in a batch the older one counts", countGo,
		`len(o.History) > len(was.History) {`, `len(o.History) < len(was.History) {`},
	{"failed-count-done", "after a failed write all up to the last group counts as counted", countGo,
		`			for _, left := range groups[i:] {
				counted = min(counted, left.first)`, `			for _, left := range groups[i:] {
				counted = max(counted, left.first+1)`},
	{"count-met-another", "a write of counts that met another one counts as done", countGo,
		`		if !errors.Is(err, seckill.ErrCountsChanged) {
			return err
		}`, `		if errors.Is(err, seckill.ErrCountsChanged) {
			return nil
		}
		return err`},
	{"mark-falls-short", "the mark of an order lacks the entry that was counted last", countGo,
		`Sequence: len(o.History)})`, `Sequence: max(1, len(o.History)-1)})`},
	{"minute-of-the-last-order", "of the orders that one write counts in a minute only the last is in it", countGo,
		`a.Minutes[n].Count = a.Minutes[n].Plus(m.Count)`, `a.Minutes[n].Count = m.Count`},
	{"kept-units-given-back", "a refund that keeps the units counts as giving them back", movesGo,
		` && len(o.Units) == 0 && !later:`, ` && !later:`},
	{"second-payment-counts", "a second payment counts as one more order", movesGo,
		`		case to == from:`, `		case to == "":`},
	{"recount-walks-once", "a recount ends without a second walk: the orders that the list lacked are missing",
		recountGo,
		`	if w.began.Before(late) {`, `	if w.began.Before(c.Since) {`},
	{"recount-of-one-page", "a recount ends after a page of orders", recountGo,
		`	if w.after = page.Next; w.after != "" {`, `	if w.after = page.Next; w.after == "never" {`},
	{"recount-keeps-the-old", "a recount begins with what was counted before", countsGo,
		`[]Write{{Key: countsKey(c.Item), Op: OpPut,
		Row: Row{"v": Version, "since": since, "recounting": int64(1)}, If: []Cond{asRead(c)}}})`,
		`[]Write{{Key: countsKey(c.Item), Op: OpUpdate,
		Set: Row{"v": Version, "since": since, "recounting": int64(1)}, If: []Cond{asRead(c)}}})`},
	{"counts-unconditional", "what was decided for a count is added to the one that a recount began", countsGo,
		`Add: add, If: []Cond{first}}`, `Add: add, If: append([]Cond{first}, asRead(c))[2:]}`},
	{"mark-unconditional", "two readers of one change both count it", countsGo,
		`			mark.If = []Cond{Eq("since", o.Was.Since.UnixMilli()), Eq("sequence", int64(o.Was.Sequence))}`,
		`			mark.If = nil`},
	{"first-mark-unconditional", "two readers of an order's first change both count it", countsGo,
		`Op: OpPut, If: []Cond{Absent()},
			Row`, `Op: OpPut,
			Row`},
	{"failed-post-acknowledged", "an event that the webhook refused counts as acknowledged", deliverGo,
		`		err := f.Endpoint.Post(ctx, &e)`, `		err := error(nil)
		_ = f.Endpoint.Post(ctx, &e)`},
	{"unopened-change-done", "a change whose order could not be made due does not come back", deliverGo,
		`			return i, err
		}
		if first`, `			continue
		}
		if first`},
	{"acknowledged-by-two", "two posters of an event both record that it was acknowledged: the next one is skipped",
		deliverGo, `		if w.Sent != sent {`, `		if w.Sent < sent {`},
	{"all-acknowledged-by-one", "an acknowledgement counts for all events that an order has by then", webhookGo,
		`	w.Sent++
	w.open(until)`, `	w.Sent = w.Known
	w.open(until)`},
	{"webhook-row-unconditional", "two posters of an order overwrite each other's row",
		"shared/driver/ledger/deliveries.go",
		`If: []Cond{unread}})`, `If: []Cond{unread}[1:]})`},
	{"not-due-again", "a change of an order whose events had all arrived does not make it due", webhookGo,
		`	if w.GivenUp || w.Due.IsZero() {`, `	if w.GivenUp {`},
	{"failed-post-forgotten", "an event that was posted in vain is not due again", webhookGo,
		`	w.Due = at.Add(wait)`, `	w.Due, _ = time.Time{}, wait`},
	{"given-up-at-once", "an event is given up at its third failure", webhookGo,
		`w.GivenUp = at.Sub(w.Since) >= WebhookPatience; w.GivenUp {`, `w.GivenUp = w.Tries > 2; w.GivenUp {`},
}
