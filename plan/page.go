package plan

// The storefront's page, in seconds and calls (web/src/core.js, items.js, clock.js; TestPageIsTheStorefronts compares).
const (
	lookNear   = 5.0  // between looks at the lists while a sale is near or on
	lookFar    = 30.0 // otherwise
	lookSpread = 2.5  // both are longer by up to this much
	nearBefore = 60.0 // before its start, a sale is near

	openingLists = 2 // calls of a page that opens
	openingTimes = 1
	openingFiles = 3 // the page, its style and its script, when the browser has none of them
)

// farShare is the looks of a page while no sale is near, as a share of those while one is.
const farShare = (lookNear + lookSpread/2) / (lookFar + lookSpread/2)

// opening is a page's calls when it opens.
const opening = openingLists + openingTimes + openingFiles

// before sets the state at the opening, after pages have opened, looked and warmed instances of shop. One bucket stands
// for both lists, and one for the page and its files.
func (m *sim) before() {
	m.buying.tokens, m.orders.tokens, m.account.tokens = m.BuyBurst, m.Burst, m.AccountSize
	m.lists.tokens, m.clock.tokens, m.files.tokens = m.Burst, m.Burst, m.Burst
	rate, span := 0.0, m.Before.Seconds()
	for t := 0.5; t < span; t++ {
		pages := float64(m.Shoppers) * m.First / span // that open in this second
		looks := pages * t * m.Looks
		if t < span-nearBefore {
			looks *= farShare
		}
		m.out.EdgeCalls += (looks + pages*opening) * m.Edge
		looks, pages = looks*(1-m.Edge), pages*(1-m.Edge)
		lists, files := looks/2+pages*openingLists/2, pages*openingFiles/2
		rate = min(m.Account, 2*min(lists, m.Rate)+min(pages*openingTimes, m.Rate)+2*min(files, m.Rate))
		m.out.ShopCalls += rate
		if lists > m.Rate {
			m.lists.tokens = 0
		}
	}
	if rate == m.Account {
		m.account.tokens = 0
	}
	m.shop.busy = min(rate*Occupied, max(0, m.Concurrency-m.Provisioned-m.Reserved()))
	m.shop.warm, m.buy.warm = m.shop.busy, m.Provisioned
	m.shop.budget, m.buy.budget = m.Ramp, m.Ramp
}

// look returns the calls of shop in a tick that pages make and the API admits, those at lists among them, and all that
// pages asked for. opened is how many pages open in this tick.
func (m *sim) look(pages, opened float64) (passed, lists, asked float64) {
	looks := pages * m.Looks * tick
	if m.left < half {
		looks *= farShare // nothing is left to look at
	}
	m.out.EdgeCalls += (looks + opened*opening) * m.Edge
	looks, opened = looks*(1-m.Edge), opened*(1-m.Edge)
	lists = 2 * m.lists.take(looks/2+opened*openingLists/2, m.Rate, m.Burst)
	passed = lists + m.clock.take(opened*openingTimes, m.Rate, m.Burst) +
		2*m.files.take(opened*openingFiles/2, m.Rate, m.Burst)
	return passed, lists, looks + opened*opening
}
