package report

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/your-org/seckill/shared/seckill"
)

// Checked is the result of checking a report.
type Checked struct {
	Made     time.Time   `json:"made"`
	Verifier string      `json:"verifier"` // whose signature was checked
	Known    bool        `json:"known"`    // the verifier was given, not taken from the report itself
	Signed   bool        `json:"signed"`   // the signature is the verifier's, and of these lines
	Lines    int64       `json:"lines"`    // without the signature
	Root     string      `json:"root"`
	Orders   int         `json:"orders"`
	Items    []ItemState `json:"items"` // at most MaxItems
	Findings []Finding   `json:"findings"`
	Count    int         `json:"count"` // of findings, also of those not listed
}

// ItemState is what a report says about an item, with the sums that the check computed.
type ItemState struct {
	Item       Item                  `json:"item"`
	Final      bool                  `json:"final"` // it was read when its sale was over
	Sums       Sums                  `json:"sums"`
	Provider   *Provider             `json:"provider,omitempty"`
	Refused    *Refusals             `json:"refused,omitempty"` // nil if the report has no such line
	Minutes    []seckill.MinuteCount `json:"-"`
	Guarantees []Guarantee           `json:"guarantees"`
}

// OK reports whether nothing is wrong.
func (c *Checked) OK() bool { return c.Signed && c.Count == 0 }

// errStop ends a check early.
var errStop = errors.New("stop")

// Verify reads a report, gzip or not, and checks its signature, each line and all sums. verifier is the public key of
// the shop; "" takes the one that the report itself names, which shows only that nothing was damaged since. each, if it
// is not nil, gets every undamaged line. The error comes from reading or from each; faults of the report are in
// Findings.
func Verify(r io.Reader, verifier string, each func(line []byte, leaf tlog.Hash) error) (*Checked, error) {
	c := &checker{each: each, out: &Checked{Verifier: verifier, Known: verifier != "", Findings: []Finding{}}}
	in, err := newLines(r)
	if err == nil {
		return c.out, c.run(in)
	}
	c.find(Finding{What: "is damaged: " + err.Error()})
	return c.out, nil
}

// isDamage reports whether an error of reading says that a compressed file is damaged or cut off.
func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &corrupt)
}

// run reads all lines.
func (c *checker) run(in *lines) error {
	for {
		line, ended, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case errors.Is(err, errLong):
			err = c.long()
		case err != nil && isDamage(err):
			c.damaged++
			c.find(Finding{Line: in.n + 1, What: "the compressed file is damaged or cut off here: " + err.Error()})
			err = errStop
		case err == nil:
			err = c.line(line, ended)
		}
		if errors.Is(err, errStop) {
			break
		}
		if err != nil {
			return err
		}
	}
	c.end()
	return nil
}

// checker checks line after line.
type checker struct {
	out  *Checked
	each func([]byte, tlog.Hash) error

	read     int64 // lines
	next     int64 // the number that the next line must have; -1 if the line before is damaged
	computed tree  // the tree of the lines as they are
	stated   tree  // the tree of the leaves that they state
	damaged  int
	note     string
	noteAt   int64

	head  bool
	item  *ItemState
	adder *adder
	part  bool // something of this item is damaged, so its sums cannot be compared
	items []string
}

func (c *checker) find(f Finding) {
	if c.out.Count++; len(c.out.Findings) < maxFindings {
		c.out.Findings = append(c.out.Findings, f)
	}
}

// tell finds something in the current line.
func (c *checker) tell(format string, args ...any) {
	c.find(Finding{Line: c.read, What: fmt.Sprintf(format, args...)})
}

func (c *checker) long() error {
	c.read++
	c.damaged++
	c.part, c.next = true, -1
	c.tell("%v", errLong)
	c.computed.add(tlog.Hash{})
	c.stated.add(tlog.Hash{})
	return nil
}

const noteOpen = `{"note":`

func (c *checker) line(line []byte, ended bool) error {
	c.read++
	switch {
	case c.noteAt != 0:
		c.tell("stands behind the signature, which is the last line")
		return errStop
	case c.read > maxLines:
		c.tell("is one more than the %d lines of a report", int64(maxLines))
		return errStop
	case bytes.HasPrefix(line, []byte(noteOpen)):
		c.noteAt = c.read
		var n struct{ Note string }
		err := json.Unmarshal(line, &n)
		if !ended {
			c.tell("is cut off")
		} else if err != nil || string(noteLine(n.Note)) != string(line)+"\n" {
			c.tell("the signature's line is damaged")
		}
		c.note = n.Note
		return nil
	}
	content, leaf, end := leafOf(line)
	if content != nil && ended && bytes.Equal(end, tail(nil, leaf)) {
		c.computed.add(leaf)
		c.stated.add(leaf)
		return c.good(content, leaf)
	}
	c.bad(line, ended, leaf)
	return nil
}

// bad keeps a damaged line: the tree of what the lines state goes on with what it states.
func (c *checker) bad(line []byte, ended bool, leaf tlog.Hash) {
	what, stated := damage(line)
	if !ended {
		what = "is cut off, or its end is damaged"
	}
	c.tell("%s", what)
	c.damaged++
	c.part, c.next = true, -1
	c.computed.add(leaf)
	c.stated.add(stated)
}

// good takes an undamaged line.
func (c *checker) good(content []byte, leaf tlog.Hash) error {
	l, err := head(content)
	if err != nil {
		c.tell("is not a line of a report: %v", err)
		return nil
	}
	switch {
	case c.next >= 0 && l.N == c.next-1:
		c.tell("is line number %d a second time", l.N)
		c.part = true
	case c.next >= 0 && l.N > c.next:
		c.tell("has number %d: %d lines are missing before it, or it stands in a wrong place", l.N, l.N-c.next)
		c.part = true
	case c.next >= 0 && l.N != c.next:
		c.tell("has number %d instead of %d: it stands in a wrong place", l.N, c.next)
		c.part = true
	}
	c.next = l.N + 1
	if err := c.content(l.Kind, content); err != nil {
		c.tell("is not a line of kind %.20q: %v", l.Kind, err)
	}
	if c.each == nil {
		return nil
	}
	return c.each(content, leaf)
}

// head reads what a line begins with: directly if it looks as Make writes it.
func head(content []byte) (l Line, err error) {
	const before, between = `{"n":`, `,"kind":"`
	rest, ok := bytes.CutPrefix(content, []byte(before))
	number, rest, found := bytes.Cut(rest, []byte(between))
	kind, _, closed := bytes.Cut(rest, []byte{'"'})
	if ok && found && closed {
		if l.N, err = strconv.ParseInt(string(number), 10, 64); err == nil {
			l.Kind = string(kind)
			return l, nil
		}
	}
	err = json.Unmarshal(content, &l)
	return l, err
}

func (c *checker) content(kind string, content []byte) error {
	if kind != kindHead && kind != kindItem && c.item == nil {
		if c.damaged == 0 {
			return errors.New("it stands before its item")
		}
		return nil
	}
	switch kind {
	case kindHead:
		return c.takeHead(content)
	case kindItem:
		return c.takeItem(content)
	case kindOrder:
		var o Order
		if err := json.Unmarshal(content, &o); err != nil {
			return err
		}
		c.out.Orders++
		for _, wrong := range c.adder.add(&o) {
			c.tell("%s", wrong)
		}
	case kindPayment:
		var p Payment
		if err := json.Unmarshal(content, &p); err != nil {
			return err
		}
		for _, wrong := range c.adder.pay(&p.Money) {
			c.tell("%s", wrong)
		}
	case kindMinute:
		return c.takeMinute(content)
	case kindGuarantee:
		var g Guarantee
		if err := json.Unmarshal(content, &g); err != nil {
			return err
		}
		if len(c.item.Guarantees) < 100 {
			c.item.Guarantees = append(c.item.Guarantees, g)
		}
	case kindRefused:
		return c.takeRefused(content)
	case kindStatement:
		return c.takeStatement(content)
	default:
		return errors.New("there is no such kind")
	}
	return nil
}

func (c *checker) takeHead(content []byte) error {
	var h Head
	if err := json.Unmarshal(content, &h); err != nil {
		return err
	}
	switch {
	case c.head:
		return errors.New("it is there twice")
	case h.Version != Version:
		return fmt.Errorf("version %d of the format, this program reads %d", h.Version, Version)
	case len(h.Items) > MaxItems:
		return fmt.Errorf("%d items, want at most %d", len(h.Items), MaxItems)
	}
	c.head, c.items, c.out.Made = true, h.Items, h.Made
	if !c.out.Known {
		c.out.Verifier = h.Verifier
	}
	return nil
}

func (c *checker) takeItem(content []byte) error {
	c.closeItem()
	var it Item
	if err := json.Unmarshal(content, &it); err != nil {
		return err
	}
	if len(c.out.Items) >= MaxItems {
		return fmt.Errorf("more than %d items", MaxItems)
	}
	c.out.Items = append(c.out.Items, ItemState{Item: it, Final: !it.Read.Before(it.End)})
	c.item = &c.out.Items[len(c.out.Items)-1]
	c.adder, c.part = newAdder(it.Item, it.Stock), false
	return nil
}

func (c *checker) takeMinute(content []byte) error {
	var m Minute
	if err := json.Unmarshal(content, &m); err != nil {
		return err
	}
	if was := c.adder.minutes[m.Minute.Unix()]; was != m.Count && !c.part {
		c.tell("says %+v of minute %s, but the orders' histories say %+v", m.Count, m.Minute.Format(time.RFC3339), was)
	}
	if list := c.item.Minutes; len(list) > 0 && !m.Minute.After(list[len(list)-1].Minute) {
		return errors.New("minutes want to ascend")
	}
	if len(c.item.Minutes) >= MaxMinutes {
		return fmt.Errorf("more than %d minutes", MaxMinutes)
	}
	c.item.Minutes = append(c.item.Minutes, m.MinuteCount)
	return nil
}

func (c *checker) takeRefused(content []byte) error {
	var r Refused
	if err := json.Unmarshal(content, &r); err != nil {
		return err
	}
	switch {
	case c.item.Refused != nil:
		return errors.New("it is there twice")
	case len(r.Requests) > maxReasons:
		return fmt.Errorf("%d reasons, want at most %d", len(r.Requests), maxReasons)
	}
	for reason, n := range r.Requests {
		if n <= 0 || r.Source == RefusedUnknown {
			c.tell("%d requests refused for %.40q, counted by %.20q", n, reason, r.Source)
		}
	}
	if r.Until.Before(r.From) {
		c.tell("refused requests until %s, from %s", r.Until.Format(time.RFC3339), r.From.Format(time.RFC3339))
	}
	c.item.Refused = &r.Refusals
	return nil
}

func (c *checker) takeStatement(content []byte) error {
	var st Statement
	if err := json.Unmarshal(content, &st); err != nil {
		return err
	}
	c.item.Provider = st.Provider
	a := c.adder
	if !c.part {
		for _, part := range []struct {
			name           string
			says, computed any
		}{{"orders", st.Orders, a.Orders}, {"ever", st.Ever, a.Ever}, {"rejected", st.Rejected, a.Rejected},
			{"units", st.Units, a.Units}, {"money", st.Money, a.Money}, {"wait_until_placed", st.Placing, a.Placing},
			{"wait_until_paid", st.Paying, a.Paying}, {"wait_until_given_back", st.Holding, a.Holding},
			{"wait_until_shipped", st.Shipping, a.Shipping}, {"minutes", len(c.item.Minutes), len(a.minutes)},
			{"orders of the item's line", c.item.Item.Orders, c.count()}} {
			says, _ := marshal(part.says)
			computed, _ := marshal(part.computed)
			if string(says) == "null" && string(computed) == "{}" {
				says = computed
			}
			if !bytes.Equal(says, computed) {
				c.tell("%s: it says %.300s, but the lines add up to %.300s", part.name, says, computed)
			}
		}
	}
	c.closeItem()
	return nil
}

// count returns the orders that were added.
func (c *checker) count() (n int) {
	for _, k := range c.adder.Orders {
		n += k
	}
	return n
}

// closeItem ends an item, whose statement must have come.
func (c *checker) closeItem() {
	if c.item == nil {
		return
	}
	c.item.Sums = c.adder.Sums
	c.item, c.adder = nil, nil
}

// end checks the signature.
func (c *checker) end() {
	c.out.Lines = c.computed.size
	root := c.computed.root()
	c.out.Root = root.String()
	unfinished := c.item != nil
	c.closeItem()
	if c.noteAt == 0 {
		c.find(Finding{What: "the signature is missing: the file is cut off, or its last line is damaged"})
		return
	}
	at := func(format string, args ...any) {
		c.find(Finding{Line: c.noteAt, What: fmt.Sprintf(format, args...)})
	}
	size, signed, err := c.open()
	switch {
	case err != nil:
		at("%v", err)
	case signed == root && size == c.computed.size:
		c.out.Signed = true
	case signed == c.stated.root() && size == c.stated.size:
		c.find(Finding{What: "all other lines are as they were signed"})
	case size != c.computed.size:
		at("%d lines were signed, the file has %d", size, c.computed.size)
	case c.out.Count == 0:
		at("the lines fit together, but they are not those that were signed: somebody rewrote some of them")
	default:
		at("the lines are not those that were signed, also without the damage that is listed")
	}
	if c.damaged == 0 && (unfinished || !c.head || len(c.items) != len(c.out.Items)) {
		c.find(Finding{What: "lines are missing: the head, an item, or an item's statement"})
	}
}

// open checks the note and returns what it signs.
func (c *checker) open() (size int64, root tlog.Hash, err error) {
	if c.note == "" {
		return 0, root, errors.New("there is no signature")
	}
	verifier, err := note.NewVerifier(c.out.Verifier)
	if err != nil {
		return 0, root, fmt.Errorf("the verifier %.80q is not a public key of reports", c.out.Verifier)
	}
	n, err := note.Open([]byte(c.note), note.VerifierList(verifier))
	var other *note.UnverifiedNoteError
	switch {
	case errors.As(err, &other) && len(other.Note.UnverifiedSigs) > 0:
		s := other.Note.UnverifiedSigs[0]
		return 0, root, fmt.Errorf("is signed by another key, %.80s+%08x, not by %s+%08x", s.Name, s.Hash,
			verifier.Name(), verifier.KeyHash())
	case err != nil:
		return 0, root, fmt.Errorf("the signature does not fit: %w", err)
	case len(n.Sigs)+len(n.UnverifiedSigs) != 1:
		return 0, root, errors.New("wants one signature")
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(n.Sigs[0].Base64); err != nil {
		return 0, root, errors.New("the signature is damaged")
	}
	parts := strings.Split(n.Text, "\n")
	if len(parts) < 3 || parts[0] != verifier.Name() {
		return 0, root, errors.New("the signed text is not that of a report")
	}
	size, err = strconv.ParseInt(parts[1], 10, 64)
	raw, err64 := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || err64 != nil || len(raw) != len(root) {
		return 0, root, errors.New("the signed text is not that of a report")
	}
	return size, tlog.Hash(raw), nil
}
