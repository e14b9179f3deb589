package seckill

import (
	"regexp"
	"strings"
	"sync"
)

// MaxParcel is how many characters a carrier may have, and a parcel's number.
const MaxParcel = 64

// CheckParcel returns an invalid_request unless carrier and number may be those of a parcel. It refuses what programs
// make of a number: its shopper would look for a parcel that does not exist.
func CheckParcel(carrier, number string) error {
	if err := CheckLine("carrier", carrier, MaxParcel); err != nil {
		return err
	}
	if err := CheckLine("number", number, MaxParcel); err != nil {
		return err
	}
	for _, d := range damages() {
		if d.form.MatchString(number) {
			return Invalid("number", "the carrier's: "+number+d.what)
		}
	}
	return nil
}

const asText = "; make the column text, and enter the number again"

type damage struct {
	form *regexp.Regexp
	what string
}

// damages are what programs make of a parcel's number. A carrier's number is never one of them.
var damages = sync.OnceValue(func() []damage {
	return []damage{
		// 7.53E+13, 7,53e13, 75.3E12, 7E+13; 5E12345678 may be a carrier's
		{regexp.MustCompile(`^[-+]?(\d{1,3}[.,]\d*[eE][-+]?\d{1,3}|\d[eE]\d{1,2}|\d{1,3}[eE][-+]\d{1,3})$`),
			" was shortened by a spreadsheet" + asText},
		{regexp.MustCompile(`^[-+]?\d+[.,]0*$`), " was made a decimal number by a program" + asText},
		{regexp.MustCompile(`^\d{1,3}([,'\x{a0}\x{202f}]\d{3})+([.,]\d+)?$`),
			" got separators from a program" + asText},
		{regexp.MustCompile(`^#|^(?i:err:\d+)$`), " is an error of a spreadsheet; enter the number again"},
		{regexp.MustCompile(`^<?(?i:nan|nat|n/?a|null|nil|none|undefined|[-+]?inf(inity)?)>?$`),
			" is what programs write for no number; enter it"},
		{regexp.MustCompile(`^(?i:true|false)$`), " is what a program read as yes or no" + asText},
		{regexp.MustCompile("^[=`'‘’]|^\".*\"$"), " is in quotes or a formula; enter the number alone"},
	}
})

// wrapping matches what shops put around a number, so that a spreadsheet leaves it alone: ="753", '753, `753`.
var wrapping = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(?:=\"(.*)\"|\"(.*)\"|[`'‘’](.*?)[`'‘’]?)$")
})

// Unwrapped returns the number in a cell of a file, without what shops put around it to keep a spreadsheet from
// changing it.
func Unwrapped(cell string) string {
	for {
		bare := Tidy(cell)
		if m := wrapping().FindStringSubmatch(bare); m != nil {
			bare = strings.Join(m[1:], "")
		}
		if bare == cell {
			return cell
		}
		cell = bare
	}
}
