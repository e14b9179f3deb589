package crowd

// What a shopper asks for to pass an item's checks, in the report. The journal has neither: no order depends on what
// they were told.
const (
	actChallenge = "challenge" // POST /seckill/challenge
	actTicket    = "ticket"    // POST /seckill/ticket
)

// What a page asks for besides its purchase, in the report. The journal has none of it: it decides nothing.
const (
	actFile   = "file"   // the page, its style, its script
	actList   = "list"   // GET /seckill/ing, /seckill/will
	actStatus = "status" // GET /seckill/status/{item}
)

// ofPage reports whether an act is one of these, or about checks.
func ofPage(act string) bool {
	return act == actFile || act == actList || act == actStatus || act == actChallenge || act == actTicket
}
