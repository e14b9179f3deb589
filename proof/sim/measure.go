package sim

import "time"

// outOfSale measures how long units of a running sale are neither sold, nor reserved, nor available: what a fault
// costs the shop. While a unit is out, time moves in small steps and no actor is idle.
type outOfSale struct {
	On    bool
	since map[unitKey]time.Time
	Spans []time.Duration // finished periods
	Open  int             // units still out at the end
}
