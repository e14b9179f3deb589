package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Parts of a sale other than the ledger's tables.
const (
	PartItems  = "items"          // the row of the items table
	PartTrades = "gateway_trades" // the fake gateway's trades: see package gatewaytable
	PartRedis  = "redis"          // the item's keys
	PartQueues = "queues"
)

// Tables are the ledger's tables in the order that an audit needs.
var Tables = []string{ledger.TableOrders, ledger.TableUnits, ledger.TableQuotas, ledger.TablePayments,
	ledger.TableReturns, ledger.TableBlocks}

// Line is one row, entry or message from a source. Exactly one of Now, Table, Key, Queue, Missing and End is set.
type Line struct {
	Now     int64      // the sale's clock, Unix milliseconds
	Table   string     // a row of a table: PartItems, PartTrades or one of ledger.Schema
	Row     ledger.Row // its attributes; valid, like the texts in it, until the callback returns
	Key     string     // a field of a hash in Redis, or a member of a sorted set
	Field   string
	Value   string // the field's value, or the member's score
	Queue   string // a queue: "orders", "closings"
	Depth   Depth
	Missing string // a part that cannot be read
	Why     string // what reading it would need
	End     string // a part that was read completely; without this line it counts as unread
	Count   int    // lines of that part
}

// Clone copies the line, whose Row Lines reuses.
func (l *Line) Clone() Line {
	out := *l
	out.Row = maps.Clone(l.Row)
	for attr, v := range out.Row {
		switch v := v.(type) {
		case []string:
			out.Row[attr] = slices.Clone(v)
		case ledger.Set:
			out.Row[attr] = slices.Clone(v)
		}
	}
	return out
}

// Depth is a queue's number of messages. Delayed ones are not due yet; Parked ones are in its dead-letter queue.
type Depth struct{ Visible, InFlight, Delayed, Parked int }

// Append adds the line as JSON, with a newline.
func (l *Line) Append(b []byte) []byte {
	switch {
	case l.Table != "":
		b = appendRow(appendQuoted(append(b, `{"table":`...), l.Table), l.Row)
	case l.Key != "":
		b = appendQuoted(append(b, `{"key":`...), l.Key)
		b = appendQuoted(append(b, `,"field":`...), l.Field)
		b = appendQuoted(append(b, `,"value":`...), l.Value)
	case l.Queue != "":
		b = appendQuoted(append(b, `{"queue":`...), l.Queue)
		b = fmt.Appendf(b, `,"visible":%d,"in_flight":%d,"delayed":%d,"parked":%d`, l.Depth.Visible, l.Depth.InFlight,
			l.Depth.Delayed, l.Depth.Parked)
	case l.Missing != "":
		b = appendQuoted(append(b, `{"missing":`...), l.Missing)
		b = appendQuoted(append(b, `,"why":`...), l.Why)
	case l.End != "":
		b = appendQuoted(append(b, `{"end":`...), l.End)
		b = strconv.AppendInt(append(b, `,"count":`...), int64(l.Count), 10)
	default:
		b = strconv.AppendInt(append(b, `{"now":`...), l.Now, 10)
	}
	return append(b, "}\n"...)
}

func appendRow(b []byte, row ledger.Row) []byte {
	b = append(b, `,"row":{`...)
	first := true
	for attr, v := range row {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendQuoted(b, attr), ':')
		switch v := v.(type) {
		case string:
			b = appendQuoted(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case []string:
			b = appendTexts(b, v)
		case ledger.Set:
			b = append(appendTexts(append(b, `{"set":`...), v), '}')
		}
	}
	return append(b, '}')
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, s)
	}
	return append(b, ']')
}

func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings always marshal
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// maxDumpLine exceeds any row: DynamoDB limits rows to 400 KB, and quoting makes up to six bytes of one.
const maxDumpLine = 4 << 20

// Lines calls each with every line that Append wrote. It fails with the number of a malformed line. A stream that is
// cut off is not an error, because parts without End count as unread.
func Lines(r io.Reader, each func(*Line) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxDumpLine)
	l := Line{Row: ledger.Row{}}
	for n := 1; in.Scan(); n++ {
		clear(l.Row)
		l = Line{Row: l.Row}
		p := parser{s: in.Text()}
		if p.line(&l); p.err == nil && p.i != len(p.s) {
			p.fail()
		}
		if p.err != nil {
			return fmt.Errorf("line %d: %w", n, p.err)
		}
		if err := each(&l); err != nil {
			return err
		}
	}
	return in.Err()
}

// parser reads the JSON that Append writes: a million rows in seconds, where encoding/json takes half a minute.
type parser struct {
	s   string
	i   int
	err error
}

var errLine = errors.New("not a line of a dump")

func (p *parser) fail() {
	if p.err == nil {
		p.err = errLine
	}
	p.i = len(p.s)
}

func (p *parser) take(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) want(c byte) {
	if !p.take(c) {
		p.fail()
	}
}

// object reads {"name":…,…}.
func (p *parser) object(member func(name string)) {
	p.want('{')
	for more := !p.take('}'); more && p.err == nil; {
		name := p.text()
		p.want(':')
		if p.err == nil {
			member(name)
		}
		if more = p.take(','); !more {
			p.want('}')
		}
	}
}

func (p *parser) line(l *Line) {
	p.object(func(name string) {
		if into := l.textOf(name); into != nil {
			*into = p.text()
			return
		}
		if into := l.countOf(name); into != nil {
			*into = int(p.number())
			return
		}
		switch name {
		case "now":
			l.Now = p.number()
		case "row":
			p.object(func(attr string) { l.Row[attr] = p.value() })
		default:
			p.fail()
		}
	})
}

func (l *Line) textOf(name string) *string {
	switch name {
	case "table":
		return &l.Table
	case "key":
		return &l.Key
	case "field":
		return &l.Field
	case "value":
		return &l.Value
	case "queue":
		return &l.Queue
	case "missing":
		return &l.Missing
	case "why":
		return &l.Why
	case "end":
		return &l.End
	}
	return nil
}

func (l *Line) countOf(name string) *int {
	switch name {
	case "visible":
		return &l.Depth.Visible
	case "in_flight":
		return &l.Depth.InFlight
	case "delayed":
		return &l.Depth.Delayed
	case "parked":
		return &l.Depth.Parked
	case "count":
		return &l.Count
	}
	return nil
}

func (p *parser) value() any {
	if p.i == len(p.s) {
		p.fail()
		return nil
	}
	switch p.s[p.i] {
	case '"':
		return p.text()
	case '[':
		return p.texts()
	case '{':
		var set ledger.Set
		p.object(func(string) { set = p.texts() })
		return set
	default:
		return p.number()
	}
}

func (p *parser) texts() []string {
	out := []string{}
	p.want('[')
	for more := !p.take(']'); more && p.err == nil; {
		out = append(out, p.text())
		if more = p.take(','); !more {
			p.want(']')
		}
	}
	return out
}

func (p *parser) number() int64 {
	end := p.i
	for end < len(p.s) && (p.s[end] == '-' || p.s[end] >= '0' && p.s[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(p.s[p.i:end], 10, 64)
	if err != nil {
		p.fail()
		return math.MinInt64
	}
	p.i = end
	return n
}

func (p *parser) text() string {
	if !p.take('"') {
		p.fail()
		return ""
	}
	rest := p.s[p.i:]
	n := strings.IndexByte(rest, '"')
	if n < 0 {
		p.fail()
		return ""
	}
	if strings.IndexByte(rest[:n], '\\') < 0 {
		p.i += n + 1
		return rest[:n]
	}
	for n = 0; n < len(rest) && rest[n] != '"'; n++ {
		if rest[n] == '\\' {
			n++
		}
	}
	var s string
	if n >= len(rest) || json.Unmarshal([]byte(p.s[p.i-1:p.i+n+1]), &s) != nil {
		p.fail()
		return ""
	}
	p.i += n + 1
	return s
}
