package plan

// The storefront's page, in seconds and calls (web/src/core.js, items.js, clock.js; TestPageIsTheStorefronts compares).
const (
	lookNear   = 5.0  // between looks at the lists while a sale is near or on
	lookFar    = 30.0 // otherwise
	lookSpread = 3.0  // both are longer by up to this much
	nearBefore = 60.0 // before its start, a sale is near

	// After a sell-out, s until every copy of the item's status says so: an instance's own and the CDN's, 1 s each.
	statusAge = 2.0

	openingLists = 2 // calls of a page that opens
	openingTimes = 1
	openingFiles = 3 // the page, its style and its script, when the browser has no copy of them
)

// farShare is the looks of a page while no sale is near, as a share of those while one is: then one list of the two is
// looked at often.
const farShare = openingLists / (lookFar + lookSpread/2) / DefaultLooks

// opening is a page's calls when it opens.
const opening = openingLists + openingTimes + openingFiles

// before sets the state at the opening, after pages have opened, looked and warmed instances of shop. One bucket stands
// for both lists, and one for the page and its files.
func (m *sim) before() {
	m.buying.tokens, m.orders.tokens, m.account.tokens = m.BuyBurst, m.Burst, m.AccountSize
	m.lists.tokens, m.clock.tokens, m.files.tokens, m.status.tokens = m.Burst, m.Burst, m.Burst, m.Burst
	rate, span := 0.0, m.Before.Seconds()
	for t := 0.5; t < span; t++ {
		pages := float64(m.Shoppers) * m.First / span // that open in this second
		looks := pages * t * m.Looks
		if t < span-nearBefore {
			looks *= farShare
		}
		m.out.FirstLooks += pages
		c := m.past(looks, pages, 1)
		rate = min(m.Account, 2*min(c.lists, m.Rate)+min(c.times, m.Rate)+2*min(c.files, m.Rate))
		m.out.ShopCalls += rate
		if c.lists > m.Rate {
			m.lists.tokens = 0
		}
	}
	if rate == m.Account {
		m.account.tokens = 0
	}
	m.shop.busy = min(rate*Occupied, max(0, m.Concurrency-m.Provisioned-m.Admitting-m.Reserved()))
	m.shop.warm, m.buy.warm = m.shop.busy, m.Provisioned
	m.shop.budget, m.buy.budget = m.Ramp, m.Ramp
}

// reaching is the calls that reach the API, of each of two lists and each of two buckets of files, and of the time.
type reaching struct{ lists, times, files float64 }

// past returns what of pages' calls in some seconds gets past the CDN, if there is one: of a list and a page one call a
// second from each location for each language; of the time and of files, whose names change with their contents, none.
func (m *sim) past(looks, opened, seconds float64) reaching {
	c := reaching{looks/2 + opened*openingLists/2, opened * openingTimes, opened * openingFiles / 2}
	if !m.Edge {
		return c
	}
	kept := locations * languages * seconds
	own := reaching{lists: min(c.lists, kept), files: min(opened, kept) / 2}
	m.out.EdgeCalls += looks + opened*opening - 2*own.lists - 2*own.files
	return own
}

// look returns the calls of shop in a tick that pages make and the API admits, those at lists among them, and all that
// pages asked for. opened is how many pages open in this tick.
func (m *sim) look(pages, opened float64) (passed, lists, asked float64) {
	looks := pages * m.Looks * tick
	if m.left < half {
		looks *= farShare // nothing is left to look at
	}
	m.out.FirstLooks += opened
	c := m.past(looks, opened, tick)
	lists = 2 * m.lists.take(c.lists, m.Rate, m.Burst)
	passed = lists + m.clock.take(c.times, m.Rate, m.Burst) + 2*m.files.take(c.files, m.Rate, m.Burst)
	return passed, lists, 2*c.lists + c.times + 2*c.files
}

// known reports whether pages can know that the item is sold out.
func (m *sim) known() bool { return m.out.SoldOut >= 0 && m.t > m.out.SoldOut+statusAge }

// sees answers shoppers whose page says "sold out", after a number of tries.
func (m *sim) sees(tried int, shoppers float64) {
	m.waits[tried] += shoppers
	m.out.Answered += shoppers
	m.out.Saw += shoppers
}

// ask has the pages of shoppers who return after 429 ask for the item's status, and ends their waits when it says
// "sold out". After a 503 a page does not ask: an order may exist. It returns the calls of shop that the CDN did not
// answer, and those of them that the API admits.
func (m *sim) ask(back []float64) (asked, passed float64) {
	for _, v := range back {
		asked += v
	}
	if asked == 0 {
		return 0, 0
	}
	share := 1.0
	if m.Edge {
		kept := min(asked, locations*languages*tick)
		m.out.EdgeCalls += asked - kept
		asked, passed = kept, m.status.take(kept, m.Rate, m.Burst)
	} else {
		passed = m.status.take(asked, m.Rate, m.Burst)
		share = passed / asked
	}
	if !m.known() {
		return asked, passed
	}
	for k, v := range back {
		m.sees(k, v*share)
		back[k] = v * (1 - share)
	}
	return asked, passed
}
