package seckill

import (
	"errors"
	"strings"
	"testing"
)

// TestParcelNumbersThatAProgramDamaged: what spreadsheets and programs make of a number is refused with what happened,
// and a carrier's number is taken, with what shops put around it taken off.
func TestParcelNumbersThatAProgramDamaged(t *testing.T) {
	t.Parallel()
	for said, cells := range map[string]string{
		"shortened":     "7.53123E+13 7.53123e+13 7,53123E+13 7,53e13 75.3E12 7e13 -7.5E+13 7.53E+013 7.E+13 7.5E1",
		"decimal":       "75312345678901.0 75312345678901.00 75312345678901,0 75312345678901. 0.0 -75312345678901.0",
		"separators":    "75,312,345,678,901 75'312'345 75,312,345.00 75\u00a0312\u00a0345",
		"error":         "#REF! #N/A #VALUE! #NAME? #DIV/0! #NUM! #NULL! ######## # Err:502",
		"no number":     "nan NaN NULL null None none N/A n/a NA <NA> NaT nil undefined inf -inf",
		"yes or no":     "TRUE False true",
		"formula":       `=A1+B1 =753`,
		"one line":      "753\u200b1 753\u202e1 753\ufffd \u2800",
		"1..64 charact": strings.Repeat("7", MaxParcel+1),
	} {
		for _, cell := range strings.Split(cells, " ") {
			var e *Error
			if err := CheckParcel("SF", Unwrapped(cell)); !errors.As(err, &e) || e.Field != "number" ||
				!strings.Contains(e.Hint, said) {
				t.Errorf("%q: %v, want %q", cell, err, said)
			}
		}
	}
	const number = "75312345678901"
	for _, cell := range []string{number, `="` + number + `"`, "`" + number, "'" + number, "'" + number + "'",
		"`" + number + "`", "\t" + number, number + "\t\u3000", `"` + number + `"`,
		"\ufeff" + number, `'="` + number + `"`,
		"\u2019" + number} {
		if got := Unwrapped(cell); got != number || CheckParcel("SF", got) != nil {
			t.Errorf("%q: %q", cell, got)
		}
	}
	for _, right := range []string{"1", "SF1234567890123", "5E12345678", "1Z999AA10123456784", "99.00.123456.12345678",
		"JD0012345678901-1-1-", "RA 123 456 789 CN",
		"LP00123456789012", "7530", "NA12345", "E13", "00340434161094042557",
		"自提", "TRUE1"} {
		if got := Unwrapped(right); got != right || CheckParcel("顺丰", got) != nil {
			t.Errorf("%q: %q, %v", right, got, CheckParcel("SF", got))
		}
	}
	if err := CheckParcel(" SF", number); !errors.Is(err, Refuse(CodeInvalid)) {
		t.Error(err)
	}
}
