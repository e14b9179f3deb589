package seckill

import (
	"errors"
	"strconv"
	"strings"
)

// Fen is money in whole fen (1 yuan = 100 fen). No amount in the system is a float.
type Fen int64

// MaxFen bounds every amount: 100 million yuan, the largest that Alipay takes in one trade (total_amount,
// alipay.trade.app.pay).
const MaxFen Fen = 100_000_000_00

// Yuan formats the amount as Alipay and the HTTP contract do: yuan with exactly two decimals, "88.80".
func (f Fen) Yuan() string {
	sign := ""
	if f < 0 {
		sign, f = "-", -f
	}
	cents := strconv.FormatInt(int64(f%100), 10)
	if len(cents) == 1 {
		cents = "0" + cents
	}
	return sign + strconv.FormatInt(int64(f/100), 10) + "." + cents
}

// MarshalJSON writes yuan as a JSON number, as in the HTTP contract's sk_price and amount.
func (f Fen) MarshalJSON() ([]byte, error) { return []byte(f.Yuan()), nil }

// UnmarshalJSON reads what MarshalJSON writes, without the bound MaxFen, because sums may exceed it. Trailing zeros
// may be missing: intermediaries drop them. It returns ErrAmount.
func (f *Fen) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil // json.Unmarshaler defines null as a no-op
	}
	whole, cents, _ := strings.Cut(string(b), ".")
	if len(cents) > 2 {
		return ErrAmount
	}
	n, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	if err != nil {
		return ErrAmount
	}
	*f = Fen(n)
	return nil
}

// ErrAmount: the text is not an amount in yuan.
var ErrAmount = errors.New("seckill: not an amount in yuan")

// ParseYuan reads an amount in yuan: ASCII digits without leading zeros and at most two decimals ("88.88", "88.8",
// "88"). It returns ErrAmount for signs, exponents, blanks, full-width digits, a third decimal and more than MaxFen:
// it refuses any amount that another reader might read differently.
func ParseYuan(s string) (Fen, error) {
	whole, frac := s, ""
	for i := range len(s) {
		if s[i] == '.' {
			whole, frac = s[:i], s[i+1:]
			if len(frac) == 0 || len(frac) > 2 {
				return 0, ErrAmount
			}
			break
		}
	}
	if len(whole) == 0 || len(whole) > 9 || len(whole) > 1 && whole[0] == '0' {
		return 0, ErrAmount
	}
	n := int64(0)
	for _, part := range [2]string{whole, (frac + "00")[:2]} {
		for i := range len(part) {
			if part[i] < '0' || part[i] > '9' {
				return 0, ErrAmount
			}
			n = n*10 + int64(part[i]-'0')
		}
	}
	if Fen(n) > MaxFen {
		return 0, ErrAmount
	}
	return Fen(n), nil
}
