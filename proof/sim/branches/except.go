package branches

import (
	"errors"
	"fmt"
)

// Exception is one outcome that a condition does not have, and why.
type Exception struct {
	File, Text string
	Nth        int // which of the file's conditions with this text, from 1
	Way        bool
	Why        string
}

// Impossible lists outcomes that no call of the stock's methods can cause.
var Impossible = []Exception{
	{"build_gaps.lua", "for n = tonumber(ARGV[3]), tonumber(ARGV[4])", 1, false,
		"the stock asks only for a range with a number in it"},
	{"build_units.lua", "for i = 3, #ARGV, 3", 1, false, "the stock asks only when there are rows"},
	{"due.lua", "r", 1, false,
		"who puts an order into awaiting writes its record in the same script, and the record stays while the order " +
			"is awaited"},
	{"due.lua", "r.state == 'q'", 1, false, "confirm, which changes the state, takes the order out of awaiting"},
	{"remove.lua", "for _, key in ipairs(KEYS)", 1, false, "the stock names ten keys"},
	{"reserve.lua", "for o, c in string.gmatch(entries, '(%w+):(%d+)')", 1, false,
		"a user without entries has no field"},
	{"users.lua", "for o in string.gmatch(page[2][i + 1], '(%w+):%d+')", 1, false,
		"a user without entries has no field"},
}

// Unplayed lists outcomes that no flow causes, whatever fails, or so rarely that coverage's seeds miss them. The
// tests of this package cause them by calls that no flow makes.
var Unplayed = []Exception{
	{"build_units.lua", "call('HSETNX', NHELD, n, order) == 1", 1, false,
		"a build reads each unit row once, and does not go on after a fault"},
	{"common.lua", "n > top", 1, true,
		"thousands of numbers lie between high-water and a sold one only in sales larger than the simulator's"},
	{"common.lua", "user ~= ''", 1, false, "a unit row names its user"},
	{"correct.lua", "holder == owner", 1, true, nowhere},
	{"correct.lua", "holder ~= ''", 1, true, "drift leaves a number alone that is held by its owner"},
	{"correct.lua", "holder ~= ''", 1, false, nowhere},
	{"correct.lua", "n > tonumber(call('HGET', ITEM, 'hw'))", 1, true, nowhere},
	{"correct_user.lua", "for o in string.gmatch(ARGV[2], '(%w+):%d+')", 1, false,
		"drift looks only at users that have entries"},
	{"correct_user.lua", "for o in string.gmatch(ARGV[2], '(%w+):%d+')", 2, false,
		"drift looks only at users that have entries"},
	{"install.lua", "call('HLEN', NUSERS) ~= tonumber(ARGV[3])", 1, true,
		"a loss that takes users from a build takes numbers, too, which are compared first"},
	{"redraw.lua", "call('HGET', HELD, n) == order", 1, false,
		"a return after a loss, for an order that is queued again and lacks a number: one seed in thousands with " +
			"failover alone"},
	{"return.lua", "for _, n in ipairs(numbers(ARGV[3]))", 1, false, "what gives nothing back leaves no return row"},
	{"scan.lua", "call('ZSCORE', FREE, n)", 1, false, nowhere},
}

const nowhere = "a number up to high-water is held or free: scripts move it whole, and a build is installed only " +
	"when it is"

// Untaken returns every missing outcome that is not an exception. The error names invalid exceptions: the condition
// does not exist, or had this outcome.
func Untaken(branches []Branch, exceptions []Exception) (names []string, err error) {
	type key struct {
		file, text string
		nth        int
		way        bool
	}
	type text struct{ file, text string }
	excepted, seen := map[key]bool{}, map[text]int{}
	for _, e := range exceptions {
		excepted[key{e.File, e.Text, e.Nth, e.Way}] = true
	}
	var wrong []error
	for _, b := range branches {
		seen[text{b.File, b.Text}]++
		for _, way := range []bool{true, false} {
			k, times := key{b.File, b.Text, seen[text{b.File, b.Text}], way}, b.False
			if way {
				times = b.True
			}
			switch {
			case excepted[k] && times > 0:
				wrong = append(wrong, fmt.Errorf("%s:%d %s: came out %t %d times, which is listed as not happening",
					b.File, b.Line, b.Text, way, times))
			case !excepted[k] && times == 0:
				names = append(names, fmt.Sprintf("%s:%d %s: never %t", b.File, b.Line, b.Text, way))
			}
			delete(excepted, k)
		}
	}
	for k := range excepted {
		wrong = append(wrong, fmt.Errorf(
			"%s: no condition %q (number %d of this text): the list of exceptions is out of date", k.file, k.text,
			k.nth))
	}
	return names, errors.Join(wrong...)
}
