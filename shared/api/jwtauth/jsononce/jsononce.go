// Package jsononce refuses JSON objects that two readers could understand differently, because a name occurs twice or
// in other letters. In: a JSON object and the names that matter. Out: nil, or which name is wrong.
package jsononce

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrTwice is the error of Check.
var ErrTwice = errors.New("jsononce: there twice, or in other letters")

// Check refuses an object in which one of the names occurs twice, in any case ("ISS", which encoding/json treats as
// "iss"): two readers could see two users. b is valid JSON. Nested objects do not count.
func Check(b []byte, names ...string) error {
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
