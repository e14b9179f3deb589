package sim

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// trace is what happened, one line per step; the same seed gives the same bytes.
type trace struct {
	buf []byte
}

// say writes a line that belongs to no process.
func (t *trace) say(at time.Time, format string, args ...any) {
	t.time(at)
	t.buf = fmt.Appendf(t.buf, format, args...)
	t.buf = append(t.buf, '\n')
}

// time writes the age of the world in seconds.
func (t *trace) time(at time.Time) {
	ms := at.Sub(epoch).Milliseconds()
	t.buf = append(t.buf, '+')
	t.buf = strconv.AppendInt(t.buf, ms/1000, 10)
	t.buf = append(t.buf, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10), ' ')
}

// hash returns a hash of every byte.
func (t *trace) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(t.buf)
	return h.Sum64()
}

// last returns the last n lines. It replaces order ids, which are hard to read, by order-1, order-2 … in the order of
// their first appearance in the whole trace.
func (t *trace) last(n int) []string {
	lines := strings.Split(strings.TrimSuffix(string(t.readable()), "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}

func (t *trace) readable() []byte {
	var ids []string
	out := bytes.Clone(t.buf)
	for _, w := range strings.FieldsFunc(string(t.buf), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if seckill.ValidOrderID(w) && !slices.Contains(ids, w) {
			ids = append(ids, w)
			out = bytes.ReplaceAll(out, []byte(w), fmt.Appendf(nil, "order-%d", len(ids)))
		}
	}
	return out
}
