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

// Kinds of lines ("业务类型").
const (
	kindTrade  = "交易"
	kindRefund = "退款"
)

var asciiBrackets = strings.NewReplacer("（", "(", "）", ")")

// ParseBill reads the details ("业务明细", CSV in GBK) of a day's bill line by line: comments, a header, then one line
// per movement. The caller bounds r. ParseBill only counts lines whose order has no ValidOrderID: they belong to
// another shop. It holds only the rest in memory. If the bill has a comment with its first day, it must equal day.
// Tabs and blanks around fields and quotes that enclose a field are dropped. Anything else that it does not
// understand is an error with the line number: a skipped line would be lost money.
func ParseBill(r io.Reader, day string) (seckill.Bill, error) {
	in := bufio.NewScanner(simplifiedchinese.GB18030.NewDecoder().Reader(r)) // GB18030 includes GBK
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

// billParser is the parser's state after the lines so far.
type billParser struct {
	day    string
	column [columnCount]int // index of each column
	width  int              // fields in the header; 0 before it
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
	if len(p.fields) != p.width { // for example a comma in a title, which would shift the other fields
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

// movement reads the fields of one line. It copies what it keeps, so that the rest of the line can be freed.
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

// billNumber reports whether s may be one of the shop's own numbers. Other shops of the same seller may use another
// form, or none.
func billNumber(s string) bool {
	return utf8.RuneCountInString(s) <= maxBillNumber && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == utf8.RuneError
	})
}

// splitFields appends a line's fields to fields. It removes quotes that enclose a whole field; a quote elsewhere is
// text.
func splitFields(line string, fields []string) ([]string, error) {
	for more := true; more; {
		if len(fields) == maxBillFields {
			return nil, fmt.Errorf("more than %d fields", maxBillFields)
		}
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
	return fields, nil
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
