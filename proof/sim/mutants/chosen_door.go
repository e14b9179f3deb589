package main

const (
	admitGo      = "shared/flow/sale/admit/admit.go"
	admittedGo   = "shared/flow/sale/buy/admitted.go"
	ticketGo     = "shared/api/jwtauth/ticket.go"
	ticketKeysGo = "shared/api/jwtauth/ticketkeys.go"
	makersGo     = "shared/api/jwtauth/makers.go"
	rememberGo   = "shared/flow/sale/admit/memory.go"
	rangesGo     = "shared/flow/sale/admit/reads.go"
	blocksGo     = "shared/driver/ledger/blocks.go"
	attemptsGo   = "shared/driver/ledger/admission.go"
)

// chosenDoor change who passes an item's checks, and who is kept out.
var chosenDoor = []choice{
	{"ticket-unchecked", "buy takes any text for a ticket", admittedGo,
		`p.Item); refusal == nil {`, `p.Item); refusal == nil || p.Ticket != "" {`},
	{"no-ticket-passes", "buy refuses bad tickets, and nobody who has none", admittedGo,
		`	if checked {
		return refusal`, `	if checked && p.Ticket != "" {
		return refusal`},
	{"no-checks-ask-for-tickets", "an item without checks refuses who has no ticket", admittedGo,
		`	if checked {
		return refusal`, `	if checked || p.Ticket == "" {
		return refusal`},
	{"checks-remembered-early", "an instance of buy remembers of an item what may still be changed", admittedGo,
		`if !now.Before(it.Start.Add(-fixedLead)) {`, `if !now.IsZero() {`},
	{"checks-read-each-time", "an instance of buy reads an item for each purchase without a ticket", admittedGo,
		`if !now.Before(it.Start.Add(-fixedLead)) {`, `if now.IsZero() {`},
	{"reserved-by-an-old-time", "buy reserves by the time before it read whether the item has checks", buyGo,
		`	now = f.Clock.Now() // it may`, `	// it may`},
	{"ticket-of-anybody", "a ticket serves every user", ticketGo, `case c.User != user, c.Item != item:`,
		`case c.Item != item:`},
	{"ticket-for-anything", "a ticket serves every item", ticketGo, `case c.User != user, c.Item != item:`,
		`case c.User != user:`},
	{"ticket-for-ever", "a ticket does not expire", ticketGo, `case t.clock.Now().Unix() >= c.Expires:`,
		`case c.Expires == 0:`},
	{"ticket-unsigned", "of a ticket's signature only the length is compared", ticketGo,
		`if !hmac.Equal([]byte(signature), []byte(want)) {`, `if !hmac.Equal([]byte(signature), []byte(want)) && len(signature) != len(want) {`},
	{"ticket-of-a-gone-secret", "a ticket with an unknown key passes", ticketGo,
		`		return errTicketKey`, `		return nil`},
	{"old-secret-unknown", "only the newest secret checks: who got a ticket before the change is refused", ticketGo,
		`|| !known {`, `|| !known || header != t.newest {`},
	{"new-ticket-key-at-once", "a new key makes tickets before its time, which other instances refuse", ticketKeysGo,
		`if !now.Before(keys[i].From) {`, `if i > 0 {`},
	{"ticket-key-soon", "a new key begins five minutes after its rotation", ticketKeysGo,
		`TicketKey{from, secret})`, `TicketKey{from.Add(-10 * time.Minute), secret})`},
	{"old-ticket-key-dropped", "a new key takes the place of all before it at once", ticketKeysGo,
		`return all[max(0, len(all)-MaxTicketKeys):]`, `return all[len(all)-1:]`},
	{"two-ticket-keys", "the second key before the newest checks no more", ticketKeysGo,
		`return all[max(0, len(all)-MaxTicketKeys):]`, `return all[max(0, len(all)-MaxTicketKeys+1):]`},
	{"new-ticket-key-unread", "an instance that slept refuses tickets of a key that is new to it", makersGo,
		`if c.Load().Newer(ticket) {`, `if c.Load().Newer("") {`},
	{"unread-ticket-keys-refuse", "a ticket is refused though its key could not be read", makersGo,
		`return seckill.AsError(err)`, `_ = err`},
	{"ticket-key-for-ever", "the oldest key makes tickets though a newer one's time has come", ticketKeysGo,
		`for i := len(keys) - 1; i > 0; i-- {`, `for i := 0; i > 0; i-- {`},
	{"oldest-ticket-key-alone", "only the oldest key makes and checks", ticketKeysGo,
		`range keys[:n] {`, `range keys[:1] {`},
	{"ticket-keys-backwards", "keys are read the newest first", ticketKeysGo,
		`cmp.Compare(a.Kid(), b.Kid())`, `cmp.Compare(b.Kid(), a.Kid())`},
	{"proofs-of-one-key", "a proof made with the key before is refused", makersGo,
		`			if j != i {`, `			if j < 0 {`},
	{"question-of-the-newest-key", "a new key changes what a shopper is asked", makersGo,
		`altcha.New([][]byte{[]byte(keys[0].Secret)}, clock)`,
		`altcha.New([][]byte{[]byte(keys[len(keys)-1].Secret)}, clock)`},
	{"any-sum", "any answer to a sum is right", admitGo,
		`return q.Right(answer)`, `return q.Right(answer) || answer != ""`},
	{"sum-of-everybody", "all shoppers are asked the same sum", admitGo,
		`seed := f.Picker.Pick(user, it.ID`, `seed := f.Picker.Pick("", it.ID`},
	{"picture-of-another-sum", "the picture shows another sum than the words", admitGo,
		`f.Painter.Paint(*a.sum, a.seed)`, `f.Painter.Paint(seckill.SumOf(a.seed+1), a.seed)`},
	{"sum-unasked", "items with strict checks and no questions ask no sum", admitGo,
		`case f.Painter == nil:`, `case f.Painter != nil:`},
	{"proof-unchecked", "any proof is good", admitGo,
		`	if !ok {
		return 0,`, `	if !ok && len(a.Proof) == 0 {
		return 0,`},
	{"question-unasked", "items with strict checks ask nothing", admitGo,
		`if it.Checks != seckill.ChecksStrict {`, `if it.Checks != "severe" {`},
	{"any-answer", "any answer to the question is right", admitGo,
		`if err != nil || asked.right(a.Answer) {`, `if err != nil || asked.right(a.Answer) || a.Answer != "" {`},
	{"question-of-an-hour-ago", "not the last question is accepted still, but the one before it", admitGo,
		`now.Add(-seckill.ChallengeLife)} {`, `now.Add(-2 * seckill.ChallengeLife)} {`},
	{"account-age-ignored", "strict checks take accounts of any age", admitGo,
		`case it.Checks == seckill.ChecksStrict && !c.Created.IsZero()`, `case it.Checks == "severe" && !c.Created.IsZero()`},
	{"answers-uncounted", "answers are not counted", admitGo,
		`switch err := f.Ledger.CountAttempt(ctx, c.User, a.Item, now); {`, `switch err := error(nil); {`},
	{"wrong-proofs-uncounted", "a wrong proof is refused before it is counted", admitGo,
		`	switch err := f.Ledger.CountAttempt(`, `	if _, ok := f.Proofs.Check(a.Proof, c.User, a.Item); !ok {
		return seckill.Ticket{}, &seckill.Error{Code: seckill.CodeCheck, Token: seckill.CheckProof}
	}
	switch err := f.Ledger.CountAttempt(`},
	{"one-answer-more", "a shopper has one answer more a minute", attemptsGo,
		`AtMost("n", seckill.MaxAttempts-1)`, `AtMost("n", seckill.MaxAttempts)`},
	{"answers-of-all-items", "answers for one item count for the others", attemptsGo,
		`SK: item + "#" + strconv`, `SK: "#" + strconv`},
	{"answers-of-all-time", "answers of a minute count for ever", attemptsGo,
		`strconv.FormatInt(window.Unix(), 10)}`, `strconv.FormatInt(window.Unix()/1e9, 10)}`},
	{"blocked-get-tickets", "admit does not go by the blocks of the user", admitGo,
		`blocked := hold(blocks, now)`, `blocked := hold(blocks[:0], now)`},
	{"blocked-networks-get-tickets", "admit reads the blocks of the user, and none of networks", admitGo,
		`f.blocked(ctx, c.Networks, item, now)`, `f.blocked(ctx, nil, item, now)`},
	{"ranges-remembered-forever", "an instance of admit reads the blocks of a range once", rememberGo,
		`age < 0 || age >= m.fresh {`, `age < 0 {`},
	{"blocked-for-ever-at-admit", "admit takes a block that is over for one that holds", rangesGo,
		`if blocks[i].Holds(now) {`, `if blocks[i].Item != "" {`},
	{"blocks-everywhere-unread", "placing does not look at blocks for every item", blocksGo,
		`{{Key: blockKey(s, seckill.Everywhere), Op: OpCheck`, `{{Key: blockKey(s, "nothing"), Op: OpCheck`},
	{"blocks-of-the-item-unread", "placing does not look at blocks for the item", blocksGo,
		`		{Key: blockKey(s, item), Op: OpCheck`, `		{Key: blockKey(s, "not "+item), Op: OpCheck`},
	{"blocked-for-ever", "placing takes a block that is over for one that holds", blocksGo,
		`AtMost("until", at.UnixMilli())`, `AtMost("until", at.Unix())`},
	{"blocks-with-an-end-ignored", "placing looks only at blocks without an end", blocksGo,
		`AtMost("until", at.UnixMilli())`, `AtMost("until", math.MaxInt64-1)`},
	{"blocked-for-good-is-over", "a block without an end is over at once", blocksGo,
		`until := int64(math.MaxInt64)`, `until := b.Made.UnixMilli()`},
	{"block-stays", "a block cannot be removed", blocksGo,
		`Op: OpDelete, If: []Cond{Eq("v", Version)}`, `Op: OpDelete, If: []Cond{Eq("v", Version+1)}`},
	{"block-acknowledged-unwritten", "an operator is told that a block holds though it could not be written", blocksGo,
		`	return l.change(ctx, "block", nil, writes...)`, `	_ = l.change(ctx, "block", nil, writes...)
	return nil`},
	{"blocked-order-forgotten", "the message of a blocked shopper's purchase is dropped", consumeGo,
		`			return f.reject(ctx, m, seckill.CodeBlocked)`, `			return nil`},
	{"blocked-order-unexplained", "a blocked shopper's order says that the limit is reached", consumeGo,
		`			return f.reject(ctx, m, seckill.CodeBlocked)`, `			return f.reject(ctx, m, seckill.CodeLimitReached)`},
}
