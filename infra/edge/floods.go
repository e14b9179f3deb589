package edge

import (
	"fmt"
	"strconv"
)

// What one network address may do of all that a route's throttle lets through, in percent. A mobile carrier puts some
// hundreds of shoppers behind one address: a tenth of the default throttles is 1,000 people who press six times in an
// opening's minute, and 600 who ask for a challenge and answer it twice. And it is a tenth: ten addresses of a script
// use up all. A smaller share stops more of a script, and more people.
const (
	DefaultShare = 10
	MostShare    = 25
)

const (
	window = 60 // seconds in which the web ACL counts
	fewest = 10 // WAF takes no lower limit

	// floodStaff is what one address may ask at /admin/ in a window: half of what the throttles of infra/api.yaml let
	// through, so that no script keeps everybody else out, and fifteen live screens behind an office's address, each
	// asking once a second. infra/edge.yaml has it.
	floodStaff = 900
)

// The parameters of infra/edge.yaml, requests of one address in a window, and the stack's throttles that bound them.
const (
	floodBuy, floodAdmit = "FloodOfPurchases", "FloodOfAnswers"
	rateBuy, rateAdmit   = "BuyRate", "ThrottleRate"
)

// Floods returns the web ACL's limits for a stack with these throttles, whose parameters throttle returns. share is in
// percent.
func Floods(throttle func(parameter string) string, share int) (map[string]string, error) {
	if share < 1 || share > MostShare {
		return nil, fmt.Errorf("%d in 100 of the throttles for one network address: want 1 to %d", share, MostShare)
	}
	out := map[string]string{}
	for limit, rate := range map[string]string{floodBuy: rateBuy, floodAdmit: rateAdmit} {
		n, err := minute(throttle, rate)
		if err != nil {
			return nil, err
		}
		out[limit] = strconv.Itoa(max(fewest, n*share/100))
	}
	return out, nil
}

// CheckFloods refuses limits with which one network address takes more than MostShare of a throttle.
func CheckFloods(limits map[string]string, throttle func(parameter string) string) error {
	for _, of := range [][2]string{{floodBuy, rateBuy}, {floodAdmit, rateAdmit}} {
		n, err := minute(throttle, of[1])
		if err != nil {
			return err
		}
		most := n * MostShare / 100
		if limit, err := strconv.Atoi(limits[of[0]]); err != nil || limit < fewest || limit > most {
			return fmt.Errorf("refused, %s=%s: want %d to %d requests a minute, at most %d in 100 of what %s lets "+
				"through: one network address could keep everybody else out", of[0], limits[of[0]], fewest, most,
				MostShare, of[1])
		}
	}
	return nil
}

// minute returns how many requests a throttle lets through in a window.
func minute(throttle func(parameter string) string, rate string) (int, error) {
	n, err := strconv.Atoi(throttle(rate))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the stack's %s is %q: deploy the stack first", rate, throttle(rate))
	}
	return n * window, nil
}
