package seckill

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckLine returns an invalid_request about a field unless its text is one line of 1 to most characters that people
// can read: see flaw.
func CheckLine(field, text string, most int) error {
	if why := flaw(text, most, false); why != "" {
		return Invalid(field, fmt.Sprintf("1..%d characters on one line; it has %s", most, why))
	}
	return nil
}

// CheckText is CheckLine for a text of one or several lines, which a line feed ends.
func CheckText(field, text string, most int) error {
	if flaw(text, most, true) != "" {
		return Invalid(field, fmt.Sprintf("1..%d", most)) // never with a part of the text: it may be an address
	}
	return nil
}

// CheckWords refuses a name, or a reason of more than most characters, that an order's history may not store.
func CheckWords(who, why string, most int) error {
	if err := CheckWho(who); err != nil {
		return err
	}
	return CheckLine("why", why, most)
}

// CheckWho refuses a name that an order's history may not store.
func CheckWho(who string) error { return CheckLine("who", who, MaxStaffName) }

// Tidy returns a text as faces take it from people, files and programs: blanks at its ends do not count, tabs are
// spaces, and a line feed ends a line.
func Tidy(text string) string {
	if strings.ContainsAny(text, "\r\t\u2028\u2029") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", " ").Replace(text)
	}
	return strings.TrimFunc(text, blank)
}

// blank reports whether a character at an end of a text says nothing: spaces, and what programs leave there.
func blank(r rune) bool { return unicode.IsSpace(r) || r == 0xfeff || r == 0x200b }

// flaw says what keeps people from reading a text as it was meant, "" if nothing does. A text may hold no control or
// format characters, but those that scripts and emoji need; no blanks at its ends; and at least one character that is
// seen.
func flaw(text string, most int, lines bool) string {
	seen, n, was := false, 0, rune(0)
	for i, r := range text {
		n++
		if r >= ' ' && r < 0x7f || r >= 0x4e00 && r <= 0x9fff {
			seen, was = seen || r != ' ', r
			continue
		}
		if r == utf8.RuneError {
			return "letters that were lost on the way"
		}
		if next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):]); !may(was, r, next) && (r != '\n' || !lines) {
			return fmt.Sprintf("the character %U", r)
		}
		seen, was = seen || isSeen(r), r
	}
	switch {
	case !seen:
		return "none that is seen"
	case n > most:
		return fmt.Sprint(n)
	case strings.TrimFunc(text, blank) != text:
		return "blanks at an end"
	}
	return ""
}

func isSeen(r rune) bool {
	return r != 0x2800 && !unicode.In(r, unicode.White_Space, unicode.M, unicode.Cf)
}

// joined are scripts in which a joiner, or a non-joiner, changes letters.
var joined = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian,
	unicode.Phags_Pa, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan,
	unicode.Myanmar, unicode.Khmer, unicode.Balinese, unicode.Javanese, unicode.Chakma}

const (
	nonJoiner, joiner = 0x200c, 0x200d
	mongolianVowel    = 0x180e
	blackFlag         = 0x1f3f4 // which tags follow: 🏴 and gbeng is England's
	firstTag, endTag  = 0xe0020, 0xe007f
)

// may reports whether a character may stand in a text between two others, 0 at an end.
func may(was, r, next rune) bool {
	switch {
	case r == joiner && emoji(was) && emoji(next):
		return true
	case r == nonJoiner || r == joiner || r == mongolianVowel:
		return unicode.In(next, joined...) && (unicode.In(was, joined...) || unicode.Is(unicode.Mn, was))
	case r >= firstTag && r < endTag:
		return (was == blackFlag || was >= firstTag && was < endTag) && next >= firstTag && next <= endTag
	case r == endTag:
		return was >= firstTag && was < endTag
	case unicode.Is(unicode.Variation_Selector, r):
		return isSeen(was) && was != 0
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // ؀ and the like, which are seen
		return true
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// emoji reports whether a joiner may join a character to an emoji.
func emoji(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Sm, unicode.Variation_Selector) || r == endTag
}

// lostLetters are what is left of letters after a program has read them in a wrong encoding.
var lostLetters = []string{"??", "锟斤拷", "ï¿½"}

// lost reports whether a text has lost letters on its way. Nobody can deliver to such an address.
func lost(text string) bool {
	return slices.ContainsFunc(lostLetters, func(left string) bool { return strings.Contains(text, left) })
}
