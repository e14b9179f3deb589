package jwtauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrTwice is the error of CheckNames.
var ErrTwice = errors.New("jwtauth: there twice, or in other letters")

// CheckNames refuses an object in which one of the names occurs twice, in any case ("ISS", which encoding/json treats
// as "iss"): two readers could see two users. b is valid JSON. Nested objects do not count.
func CheckNames(b []byte, names ...string) error {
	var seen uint
	depth, key := 0, false // key: the next string at this depth is a name
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
			key = depth == 1
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			from := i
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if !key {
				continue
			}
			key = false
			name := string(b[from+1 : i])
			if strings.IndexByte(name, '\\') >= 0 {
				if err := json.Unmarshal(b[from:i+1], &name); err != nil {
					return err
				}
			}
			for n, want := range names {
				if !strings.EqualFold(name, want) {
					continue
				}
				if name != want || seen&(1<<n) != 0 {
					return fmt.Errorf("%w: %s", ErrTwice, want)
				}
				seen |= 1 << n
			}
		}
	}
	return nil
}
