package operator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of arguments.
const (
	MaxBlockPage = 1000 // rows of a page: one answer holds them
	maxTradeNo   = 64   // bytes
	maxWho       = 256  // bytes; the ARN of a session is shorter
	maxCursor    = 2048 // bytes
)

// Queues are the names of the queues whose dead letters can be moved back.
var Queues = []string{"orders", "closings"}

// Rule is what an argument takes.
type Rule struct {
	ok     func(text string) bool
	want   string // a problem document's
	Words  string // the tool's
	Sample string
}

var rules = map[string]Rule{
	"item":  {seckill.ValidItemID, "", "1 to 19 digits without a leading zero", "7"},
	"stock": within(seckill.MaxStock, "5"),
	"order": {seckill.ValidOrderID, "", "an order id: o and 31 more letters and digits (old orders: 26 more)",
		aOrder},
	"trade":   long(maxTradeNo, "9"),
	"user":    {ValidUser, fmt.Sprintf("1..%d digits", seckill.MaxUser), "a user id", "1001"},
	"yuan":    {isYuan, "yuan", "an amount in yuan", "0.00"},
	"cursor":  long(maxCursor, "x"),
	"subject": {validSubject, "", "a user or a range of addresses", "1001"},
	"page":    within(MaxBlockPage, "1"),
	"act":     {validAct, "", "an act's id, such as " + aAct, aAct},
	"state": {func(s string) bool { return seckill.State(s).Info().State != "" }, "a state", StateNames(),
		"paid"},
	"via":   oneOf(seckill.MadeAtCLI, seckill.MadeAtPage),
	"who":   {validWho, whoWanted, whoWanted, "nobody"},
	"queue": oneOf(Queues...),
	"day":   {seckill.ValidDay, "YYYY-MM-DD", "a day such as 2026-11-11", "2026-11-10"},
}

// StateNames lists the states that an order of the ledger may have.
func StateNames() string {
	var names []string
	for _, s := range seckill.States[1:] { // the first is the stock's
		names = append(names, string(s.State))
	}
	return strings.Join(names, ", ")
}

func isYuan(s string) bool {
	_, err := seckill.ParseYuan(s)
	return err == nil
}

const (
	aOrder = "obbbbbbbbbbbbbbbbbbbbbbbbbb"
	aAct   = "1794362400123-00000001"
)

func within(most int, sample string) Rule {
	return Rule{func(text string) bool {
		n, err := strconv.Atoi(text)
		return err == nil && n > 0 && n <= most
	}, fmt.Sprintf("1..%d", most), fmt.Sprintf("1 to %d", most), sample}
}

func long(most int, sample string) Rule {
	want := fmt.Sprintf("1..%d", most)
	return Rule{func(text string) bool { return len(text) <= most }, want, want, sample}
}

func oneOf(words ...string) Rule {
	return Rule{func(text string) bool { return slices.Contains(words, text) }, strings.Join(words, ", "),
		strings.Join(words, " or "), words[0]}
}

// ValidUser reports whether a text is a user id as in a token: a 64-bit integer.
func ValidUser(user string) bool {
	if user == "" || len(user) > seckill.MaxUser {
		return false
	}
	for i, c := range user {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

// validWho reports whether a text may name a person of staff.
func validWho(who string) bool {
	return len(who) <= maxWho && seckill.CheckLine("who", who, maxWho) == nil
}

// CheckName refuses a name of a person of staff that not every command takes.
func CheckName(who string) error {
	if err := seckill.CheckWho(who); err != nil || validWho(who) {
		return err
	}
	return seckill.Invalid("who", whoWanted)
}

var whoWanted = fmt.Sprintf("1..%d bytes, all printable", maxWho)

func validAct(id string) bool {
	_, ok := seckill.ActTime(id)
	return ok
}

func validSubject(text string) bool {
	_, err := seckill.ParseSubject(text)
	return err == nil
}

func short(s string) string { return s[:min(len(s), maxWho)] }
