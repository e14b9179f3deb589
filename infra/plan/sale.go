package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Sale is a planned sale, and the assumptions about its crowd.
type Sale struct {
	Shoppers int       `json:"shoppers"`
	Units    int       `json:"units"`
	Count    int       `json:"count"` // units per order
	Items    int       `json:"items"` // on the lists, this one included
	At       time.Time `json:"at"`
	// Edge says that the CDN of infra/edge.yaml answers pages, files, lists, status and time. Purchases and looks at
	// orders pass it.
	Edge bool `json:"edge"`
	// Checks are the item's checks: "" or one of the constants Checks….
	Checks string `json:"checks,omitempty"`
	// Spans says that the item's limit spans a family.
	Spans bool `json:"spans"`
	// Webhook says that each change of an order is posted to the shop's webhook.
	Webhook bool `json:"webhook"`

	First  float64       `json:"first"`  // share of shoppers who wait for the opening; the rest come afterwards
	Within time.Duration `json:"within"` // time in which the first press the button, evenly
	Rest   time.Duration `json:"rest"`   // time in which 95 in 100 of the rest come, at a falling rate
	Before time.Duration `json:"before"` // time in which the first open their pages, evenly
	Looks  float64       `json:"looks"`  // calls per second of an open page while a sale is near
	Paying time.Duration `json:"paying"` // mean time of a buyer until the payment; the page polls the order meanwhile
	// Signin is the time before the opening in which all shoppers sign in, evenly; 0 means as long as it takes.
	Signin time.Duration `json:"signin"`
	Wait   time.Duration `json:"wait"` // bound on the wait for an answer, and on an order's wait for its row
}

// Defaults of a Sale.
const (
	DefaultFirst  = 0.5
	DefaultWithin = 2 * time.Second
	DefaultRest   = time.Minute
	DefaultBefore = 10 * time.Minute
	// Of the storefront's home page: the list with the sale at each look, the other one after lookFar.
	DefaultLooks  = 1/(lookNear+lookSpread/2) + 1/(lookFar+lookNear+lookSpread/2)
	DefaultPaying = time.Minute
	DefaultItems  = 10
	DefaultWait   = 10 * time.Second
)

// Bounds of a Sale. They keep planning short and figures in range.
const (
	MaxShoppers = 100_000_000
	MaxUnits    = 1_000_000 // seckill.MaxStock
	MaxCount    = 50        // seckill.MaxCount
	MaxItems    = 1_000
	MaxSpan     = time.Hour
	maxRest     = 10 * time.Minute
	MaxLooks    = 10
)

// Validate returns an error of one line that names the command's flag.
func (s *Sale) Validate() error {
	for _, err := range []error{
		between("shoppers", s.Shoppers, 1, MaxShoppers), between("units", s.Units, 1, MaxUnits),
		between("count", s.Count, 1, MaxCount), between("items", s.Items, 1, MaxItems),
		between("first", s.First, 0, 1), between("looks", s.Looks, 0, MaxLooks),
		between("within", s.Within, 0, MaxSpan), between("rest", s.Rest, time.Second, maxRest),
		between("before", s.Before, 0, 24*time.Hour), between("paying", s.Paying, time.Second, MaxSpan),
		between("signin", s.Signin, 0, 24*time.Hour), between("wait", s.Wait, 2*time.Second, giveUp),
	} {
		if err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"", ChecksOff, ChecksStandard, ChecksStrict}, s.Checks) {
		return fmt.Errorf("--checks %q: want off, standard or strict", s.Checks)
	}
	if s.Count > s.Units {
		return fmt.Errorf("--count %d: the sale has %d units", s.Count, s.Units)
	}
	return nil
}

func between[T cmp.Ordered](name string, v, least, most T) error {
	if ok := v >= least && v <= most; !ok { // also for NaN
		return fmt.Errorf("--%s %v: want %v to %v", name, v, least, most)
	}
	return nil
}

// arrived returns how many shoppers have pressed the button t seconds after the opening.
func (s *Sale) arrived(t float64) float64 {
	first, within := 1.0, s.Within.Seconds()
	if t < within {
		first = t / within
	}
	rest := 1 - math.Exp(-3*t/s.Rest.Seconds()) // e^-3 is 5 in 100
	n := float64(s.Shoppers)
	if all := n * (s.First*first + (1-s.First)*rest); all < n-0.5 {
		return all
	}
	return n
}

// Checks that an item may have.
const (
	ChecksOff      = "off"
	ChecksStandard = "standard"
	ChecksStrict   = "strict"
)
