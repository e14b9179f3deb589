package plan

import (
	"math"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

// text is fmt.Sprintf with thousands separators in numbers.
func text(format string, a ...any) string { return english.Sprintf(format, a...) }

// number formats an amount, rounded to an integer.
func number(v float64) string { return text("%.0f", math.Round(max(v, 0))) }

// seconds formats a time after the opening.
func seconds(v float64) string {
	switch {
	case v < 0:
		return "never"
	case v < 10:
		return text("%.1f s", v)
	default:
		return text("%.0f s", v)
	}
}

// roughly formats how long something takes.
func roughly(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return text("%.1f h", d.Hours())
	case d >= time.Minute:
		return text("%.0f min", d.Minutes())
	default:
		return seconds(d.Seconds())
	}
}

func bytesText(n int) string {
	switch v := float64(n); {
	case v >= 1e9:
		return text("%.1f GB", v/1e9)
	case v >= 1e6:
		return text("%.1f MB", v/1e6)
	default:
		return text("%.0f kB", v/1e3)
	}
}

// up rounds up to a multiple of step.
func up(v, step float64) float64 { return math.Ceil(v/step) * step }
