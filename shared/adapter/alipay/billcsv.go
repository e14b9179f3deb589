package alipay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a bill's line.
const (
	maxBillLine   = 64 << 10 // bytes
	maxBillFields = 100      // a real one has 25
	maxBillNumber = 64       // characters of the shop's numbers
)

// The columns that are read, by their names in the header with ASCII brackets.
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

// Kinds of lines ("业务类型").
const (
	kindTrade  = "交易"
	kindRefund = "退款"
)

var asciiBrackets = strings.NewReplacer("（", "(", "）", ")")

// ParseBill reads the details ("业务明细", CSV in GBK) of a day's bill, a line at a time: comments, a header, then a line
// for each movement. The caller bounds r. Lines whose order is none of a ValidOrderID, another shop's, are counted,
// whatever else they say; only the rest is held in memory. day is what the comment on its first day, where there is
// one, has to say. Tabs and blanks around fields are dropped, quotes where they enclose a field. Whatever else it does
// not understand is an error that names the line: a missed line would be missed money.
func ParseBill(r io.Reader, day string) (seckill.Bill, error) {
	in := bufio.NewScanner(simplifiedchinese.GB18030.NewDecoder().Reader(r)) // GB18030 has all of GBK
	in.Buffer(nil, maxBillLine)
	p := billParser{day: day}
	number := 0
	for in.Scan() {
		number++
		if err := p.line(in.Text()); err != nil {
			return seckill.Bill{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := in.Err(); err != nil {
		return seckill.Bill{}, fmt.Errorf("after line %d: %w", number, err)
	}
	if p.width == 0 {
		return seckill.Bill{}, errors.New("no header")
	}
	return p.bill, nil
}

// billParser has what is known after the lines so far.
type billParser struct {
	day    string
	column [columnCount]int // where each column is
	width  int              // fields of the header; 0 before it
	fields []string
	bill   seckill.Bill
}

func (p *billParser) line(text string) error {
	switch text = strings.Trim(text, " \t\r\ufeff"); {
	case text == "":
		return nil
	case text[0] == '#':
		return p.comment(text)
	}
	var err error
	if p.fields, err = splitFields(text, p.fields[:0]); err != nil {
		return err
	}
	if p.width == 0 {
		return p.header()
	}
	if len(p.fields) != p.width { // a comma in a title, say, which would move the others
		return fmt.Errorf("%d fields, the header has %d", len(p.fields), p.width)
	}
	switch order := p.fields[p.column[colOrder]]; {
	case !billNumber(order):
		return p.odd(colOrder)
	case !seckill.ValidOrderID(order):
		p.bill.Others++
		return nil
	}
	l, err := p.movement()
	if err != nil {
		return err
	}
	p.bill.Lines = append(p.bill.Lines, l)
	return nil
}

// comment checks the one that names the bill's first day: a genuine bill of another day could be replayed to us.
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
	for at, field := range p.fields {
		for i, name := range columnNames {
			if asciiBrackets.Replace(field) != name {
				continue
			}
			if p.column[i] >= 0 {
				return fmt.Errorf("header with %s twice", name)
			}
			p.column[i] = at
		}
	}
	for i, name := range columnNames {
		if p.column[i] < 0 {
			return fmt.Errorf("header without %s", name)
		}
	}
	p.width = len(p.fields)
	return nil
}

// movement reads the fields of one line. What it keeps is copied, so that the rest of the line is not held in memory.
func (p *billParser) movement() (seckill.BillLine, error) {
	get := func(column int) string { return p.fields[p.column[column]] }
	l := seckill.BillLine{TradeNo: strings.Clone(get(colTradeNo)), Order: strings.Clone(get(colOrder))}
	if !validTradeNo(l.TradeNo) {
		return seckill.BillLine{}, p.odd(colTradeNo)
	}
	amount := get(colAmount)
	switch get(colKind) {
	case kindTrade:
	case kindRefund:
		var negative bool
		if amount, negative = strings.CutPrefix(amount, "-"); !negative {
			return seckill.BillLine{}, p.odd(colAmount)
		}
		l.Refund, l.RefundID = true, strings.Clone(get(colRefundID))
		if !billNumber(l.RefundID) {
			return seckill.BillLine{}, p.odd(colRefundID)
		}
	default:
		return seckill.BillLine{}, p.odd(colKind)
	}
	var err error
	if l.Amount, err = seckill.ParseYuan(amount); err != nil || l.Amount < 1 {
		return seckill.BillLine{}, p.odd(colAmount)
	}
	done := get(colDone)
	if l.At, err = time.ParseInLocation(TimeLayout, done, seckill.Zone); err != nil || len(done) != len(TimeLayout) {
		return seckill.BillLine{}, p.odd(colDone)
	}
	l.At = l.At.UTC()
	return l, nil
}

func (p *billParser) odd(column int) error {
	return fmt.Errorf("%s %.80q", columnNames[column], p.fields[p.column[column]])
}

// billNumber reports whether s may be a number of the shop's, which another shop of the same seller may write in its
// own way, or none.
func billNumber(s string) bool {
	return utf8.RuneCountInString(s) <= maxBillNumber && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == utf8.RuneError
	})
}

// splitFields appends a line's fields to fields. A field is taken out of quotes when they enclose all of it; a quote
// elsewhere is text.
func splitFields(line string, fields []string) ([]string, error) {
	for more := true; more; {
		if len(fields) == maxBillFields {
			return nil, fmt.Errorf("more than %d fields", maxBillFields)
		}
		line = strings.TrimLeft(line, " \t")
		var field string
		if end := quoted(line); end > 0 {
			field = strings.ReplaceAll(line[1:end], `""`, `"`)
			_, line, more = strings.Cut(line[end+1:], ",") // between them are blanks only
		} else {
			field, line, more = strings.Cut(line, ",")
		}
		fields = append(fields, strings.Trim(field, " \t"))
	}
	return fields, nil
}

// quoted returns where the quote is that closes a field in quotes at the front of a line; 0 when there is no such
// field.
func quoted(line string) int {
	if line == "" || line[0] != '"' {
		return 0
	}
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			i++ // a doubled quote is one
			continue
		}
		if after := strings.TrimLeft(line[i+1:], " \t"); after == "" || after[0] == ',' {
			return i
		}
	}
	return 0
}
