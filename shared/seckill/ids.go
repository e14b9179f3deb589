package seckill

import "strconv"

// ValidItemID reports whether s may be an item's id: 1 to 19 decimal digits without a leading zero.
func ValidItemID(s string) bool {
	if len(s) == 0 || len(s) > 19 || s[0] == '0' {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// ValidUserID reports whether s is a user id: 1 to 2^63-1 in decimal digits without a leading zero, so that a user has
// one spelling.
func ValidUserID(s string) bool {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return false
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}
