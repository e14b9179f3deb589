package alipay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a line.
const (
	maxBillLine   = 64 << 10 // bytes
	maxBillFields = 100      // a real one has 25
	maxBillNumber = 64       // characters of the shop's own numbers
)

// The columns that ParseBill reads, by their header names with ASCII brackets.
const (
	colTradeNo = iota
	colOrder
	colKind
	colDone
	colAmount
	colRefundID
	columnCount
)

var columnNames = [columnCount]string{"支付宝交易号", "商户订单号", "业务类型", "完成时间", "订单金额(元)", "退款批次号/请求号"}

// Ends of the names of columns that hold no text.
const (
	moneyColumn = "(元)"
	timeColumn  = "时间"
)

// Kinds of lines ("业务类型").
const (
	kindTrade  = "交易"
	kindRefund = "退款"
)

var (
	asciiBrackets = strings.NewReplacer("（", "(", "）", ")")
	money         = regexp.MustCompile(`^-?\d+\.\d\d$`)
	thousands     = regexp.MustCompile(`^-?\d{1,3},\d{3}(\.\d\d)?$`) // one amount that a comma divides
)

// ParseBill reads the details ("业务明细", CSV in GBK or UTF-8) of a day's bill line by line: comments, a header, then
// one line per movement. The caller bounds r. A line is the shop's if its order has a ValidOrderID. ParseBill only
// counts all others, whatever they hold, and keeps only the shop's in memory. If the bill has a comment with its first
// day, it must equal day. Tabs and blanks around fields and quotes that enclose a field are dropped; a text may hold
// commas (see align). The error is seckill.UnreadLines beside the rest of the bill if only lines of the shop cannot be
// read: a line that nobody hears of would be lost money. Every other error comes without a bill.
func ParseBill(r io.Reader, day string) (seckill.Bill, error) {
	in := bufio.NewReaderSize(r, maxBillLine)
	p := billParser{day: day}
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		text, long := string(line), errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return seckill.Bill{}, fmt.Errorf("after line %d: %w", number-1, err)
		}
		if err := p.line(text, number, long); err != nil {
			return seckill.Bill{}, fmt.Errorf("line %d: %w", number, err)
		}
		if err != nil {
			break
		}
	}
	if p.names == nil {
		return seckill.Bill{}, errors.New("no header")
	}
	if len(p.unread) > 0 {
		return p.bill, p.unread
	}
	return p.bill, nil
}

// billParser is the parser's state after the lines so far.
type billParser struct {
	day    string
	column [columnCount]int // index of each column
	names  []string         // the header's fields, with ASCII brackets; nil before it
	fields []string
	bill   seckill.Bill
	unread seckill.UnreadLines
}

// line reads a line, of which only the beginning is given if it is too long: that says whose it is. Only what stands
// above the lines can be an error: the day and the header.
func (p *billParser) line(text string, number int, long bool) error {
	text = strings.Trim(text, " \t\r\n\ufeff")
	switch above := p.names == nil; {
	case text == "" || text[0] == '#' && !above:
		return nil
	case text[0] == '#':
		return p.comment(decoded(text))
	case above:
		p.fields = splitFields(decoded(text), nil)
		return p.header()
	}
	// Commas and quotes are no part of a character in GBK, so the bytes can be split.
	p.fields = splitFields(text, p.fields[:0])
	var order string
	var l seckill.BillLine
	var err error
	switch width := len(p.names); {
	case long:
		order, err = orderIn(text), fmt.Errorf("longer than %d bytes", maxBillLine)
	case len(p.fields) < width:
		order, err = orderIn(text), fmt.Errorf("%d fields, the header has %d", len(p.fields), width)
	case len(p.fields) > width:
		order, l, err = p.align()
	default:
		order = orderIn(p.fields[p.column[colOrder]])
		l, err = p.movement(p.fields)
	}
	switch {
	case order == "":
		p.bill.Others++
	case err != nil:
		why := err.Error()
		why = strings.ToValidUTF8(why[:min(len(why), seckill.MaxWhy)], "")
		p.unread = append(p.unread, seckill.UnreadLine{Line: number, Order: strings.Clone(order), Why: why})
	default:
		p.bill.Lines = append(p.bill.Lines, l)
	}
	return nil
}

// orderIn returns the first id of an order in text that stands by itself, perhaps in quotes or after digits; "" if none
// does.
func orderIn(text string) string {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	for at := range len(text) {
		if text[at] != 'o' || at > 0 && letter(text[at-1]) {
			continue
		}
		end := at
		for end < len(text) && (letter(text[end]) || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if id := text[at:end]; seckill.ValidOrderID(id) {
			return id
		}
	}
	return ""
}

// decoded returns text as UTF-8.
func decoded(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	// GB18030 includes GBK; what is neither becomes U+FFFD.
	text, _ = simplifiedchinese.GB18030.NewDecoder().String(text)
	return text
}

// align reads a line with more fields than the header, because a text that was not quoted holds commas: a title, or the
// name of a coupon. It tries each column of texts as the one that holds them. A trial counts if the columns of times
// then hold times, and those of amounts hold amounts. The line can be read if all trials that count give the same
// movement, and no two fields beside each other look like one amount of thousands, such as 1,105.00. It returns the
// shop's order; "" if no trial makes the line the shop's.
func (p *billParser) align() (order string, l seckill.BillLine, err error) {
	extra := len(p.fields) - len(p.names)
	err = fmt.Errorf("%d fields, the header has %d", len(p.fields), len(p.names))
	divided := false
	for i := range p.fields[1:] {
		divided = divided || thousands.MatchString(p.fields[i]+","+p.fields[i+1])
	}
	found := map[seckill.BillLine]bool{}
	for i, name := range p.names {
		if strings.HasSuffix(name, moneyColumn) || strings.HasSuffix(name, timeColumn) ||
			slices.Contains(p.column[:], i) {
			continue
		}
		fields := slices.Concat(p.fields[:i], []string{""}, p.fields[i+extra+1:])
		id := orderIn(fields[p.column[colOrder]])
		if id == "" {
			continue
		}
		order = id
		if m, odd := p.movement(fields); odd == nil && p.typed(fields) {
			l = m
			found[m] = true
		}
	}
	if len(found) == 1 && !divided {
		err = nil
	}
	return order, l, err
}

// typed reports whether the columns of amounts and of times hold nothing else.
func (p *billParser) typed(fields []string) bool {
	for i, name := range p.names {
		switch field := fields[i]; {
		case field == "":
		case strings.HasSuffix(name, moneyColumn) && !money.MatchString(field):
			return false
		case strings.HasSuffix(name, timeColumn):
			if _, err := time.Parse(TimeLayout, field); err != nil {
				return false
			}
		}
	}
	return true
}

// comment checks the comment that names the bill's first day; otherwise an attacker could replay a genuine bill of
// another day.
func (p *billParser) comment(text string) error {
	_, from, found := strings.Cut(text, "起始日期")
	if !found {
		return nil
	}
	day, err := time.Parse(time.DateOnly, p.day)
	if err != nil {
		return fmt.Errorf("%.40q is not a date", p.day)
	}
	if want := day.Format("2006年01月02日"); !strings.HasPrefix(strings.TrimLeft(from, "：:[【 "), want) {
		return fmt.Errorf("a bill from another day than %s: %.80q", want, text)
	}
	return nil
}

func (p *billParser) header() error {
	for i := range p.column {
		p.column[i] = -1
	}
	names := make([]string, len(p.fields))
	for at, field := range p.fields {
		names[at] = asciiBrackets.Replace(field)
		i := slices.Index(columnNames[:], names[at])
		if i >= 0 && p.column[i] >= 0 {
			return fmt.Errorf("header with %s twice", names[at])
		}
		if i >= 0 {
			p.column[i] = at
		}
	}
	for i, name := range columnNames {
		if p.column[i] < 0 {
			return fmt.Errorf("header without %s", name)
		}
	}
	if len(names) >= maxBillFields {
		return fmt.Errorf("header with %d fields or more", maxBillFields)
	}
	p.names = names
	return nil
}

// movement reads the fields of one line. It copies what it keeps, so that the rest of the line can be freed.
func (p *billParser) movement(fields []string) (seckill.BillLine, error) {
	get := func(column int) string { return fields[p.column[column]] }
	odd := func(column int) (seckill.BillLine, error) {
		return seckill.BillLine{}, fmt.Errorf("%s %.80q", columnNames[column], decoded(get(column)))
	}
	l := seckill.BillLine{TradeNo: strings.Clone(get(colTradeNo)), Order: strings.Clone(get(colOrder))}
	if !seckill.ValidOrderID(l.Order) {
		return odd(colOrder)
	}
	if !validTradeNo(l.TradeNo) {
		return odd(colTradeNo)
	}
	amount := get(colAmount)
	switch decoded(get(colKind)) {
	case kindTrade:
	case kindRefund:
		var negative bool
		if amount, negative = strings.CutPrefix(amount, "-"); !negative {
			return odd(colAmount)
		}
		l.Refund, l.RefundID = true, strings.Clone(decoded(get(colRefundID)))
		if !billNumber(l.RefundID) {
			return odd(colRefundID)
		}
	default:
		return odd(colKind)
	}
	var err error
	if l.Amount, err = seckill.ParseYuan(amount); err != nil || l.Amount < 1 {
		return odd(colAmount)
	}
	done := get(colDone)
	if l.At, err = time.ParseInLocation(TimeLayout, done, seckill.Zone); err != nil || len(done) != len(TimeLayout) {
		return odd(colDone)
	}
	l.At = l.At.UTC()
	return l, nil
}

// billNumber reports whether s may be the number of a refund, the shop's or another's.
func billNumber(s string) bool {
	return utf8.RuneCountInString(s) <= maxBillNumber && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == utf8.RuneError
	})
}

// splitFields appends a line's first maxBillFields fields to fields. It removes quotes that enclose a whole field; a
// quote elsewhere is text.
func splitFields(line string, fields []string) []string {
	for more := true; more && len(fields) < maxBillFields; {
		line = strings.TrimLeft(line, " \t")
		var field string
		if end := quoted(line); end > 0 {
			field = strings.ReplaceAll(line[1:end], `""`, `"`)
			_, line, more = strings.Cut(line[end+1:], ",") // only blanks may follow the closing quote
		} else {
			field, line, more = strings.Cut(line, ",")
		}
		fields = append(fields, strings.Trim(field, " \t"))
	}
	return fields
}

// quoted returns the index of the quote that closes a quoted field at the start of line, or 0 if no quote closes it.
func quoted(line string) int {
	if line == "" || line[0] != '"' {
		return 0
	}
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			i++ // a doubled quote stands for one
			continue
		}
		if after := strings.TrimLeft(line[i+1:], " \t"); after == "" || after[0] == ',' {
			return i
		}
	}
	return 0
}
