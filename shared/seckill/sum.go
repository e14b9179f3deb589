package seckill

import "fmt"

// Sum is what an item of ChecksStrict without questions asks: as a picture, or in words for whoever cannot see it.
// Both are easy for a program that was written for them; they cost those who did not.
type Sum struct{ A, B int }

// SumOf returns the sum of a seed, which is not negative.
func SumOf(seed int) Sum { return Sum{10 + seed%10, 2 + seed/10%8} }

// Question returns the sum in words. Digits and words of both languages are right.
func (s Sum) Question(english bool) Question {
	q := Question{Text: chineseNumber(s.A) + "加" + chineseNumber(s.B) + "等于几？", Answers: []string{
		fmt.Sprint(s.A + s.B), chineseNumber(s.A + s.B), englishNumber(s.A + s.B)}}
	if english {
		q.Text = "What is " + englishNumber(s.A) + " plus " + englishNumber(s.B) + "?"
	}
	return q
}

// chineseNumber writes 0 to 29.
func chineseNumber(n int) string {
	digit := []rune("零一二三四五六七八九")[n%10 : n%10+1]
	switch {
	case n < 10:
		return string(digit)
	case n%10 == 0:
		digit = nil
	}
	return []string{"", "十", "二十"}[n/10] + string(digit)
}

// englishNumber writes 0 to 29.
func englishNumber(n int) string {
	small := [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"}
	if n < len(small) {
		return small[n]
	}
	return "twenty-" + small[n-20]
}

// Painter draws sums.
type Painter interface {
	// Paint returns a PNG of at most MaxCaptcha bytes, always the same for the same arguments: asking again gives no
	// second look.
	Paint(s Sum, seed int) []byte
}

// MaxCaptcha is the largest picture, in bytes.
const MaxCaptcha = 6 << 10
