package linefile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/csvfile"
	"github.com/your-org/seckill/shared/seckill"
)

// BlockLine is one block.
type BlockLine struct {
	N int // the line's number in the file, from 1
	seckill.Block
}

var blocksFormat = Format{"block", csvfile.Format{Columns: []string{"subject", "item", "reason", "until"},
	Required: []string{"subject", "reason"}, Numbers: []string{"subject", "item"}}}

// ReadBlocks reads the blocks of a file, all lines or none. Its columns are subject (a user id, an address, or a range
// of addresses) and reason; item (every item if empty or *) and until (RFC 3339, for good if empty) may be missing. The
// blocks get now as their time and by as their author. An *Error says which lines are wrong; any other error is about
// the whole file.
func ReadBlocks(in io.Reader, by string, now time.Time) ([]BlockLine, error) {
	var out []BlockLine
	first := map[string]int{} // line of each subject and item
	err := Read(in, blocksFormat, func(n int, cell func(string) string) error {
		b, err := read(cell, by, now)
		if err != nil {
			return err
		}
		key := string(b.Subject) + " " + b.Item
		if first := first[key]; first > 0 {
			return fmt.Errorf("%s is on line %d already", BlockWords(&b), first)
		}
		first[key] = n
		out = append(out, BlockLine{n, b})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// read reads a line.
func read(cell func(string) string, by string, now time.Time) (b seckill.Block, err error) {
	b = seckill.Block{Item: cell("item"), Reason: seckill.Tidy(cell("reason")), By: by, Made: now}
	if b.Subject, err = Subject(cell("subject")); err != nil {
		return b, fmt.Errorf("subject %+.60q: %w", cell("subject"), err)
	}
	if b.Item == "" {
		b.Item = seckill.Everywhere
	}
	if text := cell("until"); text != "" {
		if b.Until, err = time.Parse(time.RFC3339, text); err != nil {
			return b, fmt.Errorf("until %+.60q: want a time such as 2026-12-31T16:00:00Z", text)
		}
	}
	return b, CheckBlock(&b)
}

// Subject reads a user id, an address, or a range of addresses. The error says in words what is wrong with it.
func Subject(text string) (seckill.Subject, error) {
	s, err := seckill.ParseSubject(text)
	var refused *seckill.Error
	switch {
	case err == nil:
		return s, nil
	case errors.As(err, &refused) && strings.HasPrefix(refused.Hint, "/"):
		return s,
			errors.New("want a range of /32, /28, /24, /20 or /16, of IPv6 /64, /56, /48, /40 or /32; wider ones " +
				"are for the firewall in front")
	case refused != nil && refused.Hint != "":
		return s, fmt.Errorf("the range is written %s", refused.Hint)
	}
	return s, errors.New("want a user id, an address, or a range such as 203.0.113.0/24")
}

// CheckBlock says in words what is wrong with a block whose subject is right.
func CheckBlock(b *seckill.Block) error {
	var refused *seckill.Error
	switch err := b.Check(); {
	case err == nil:
		return nil
	case !errors.As(err, &refused):
		return err
	}
	switch refused.Field {
	case "item":
		return fmt.Errorf("item %+.60q: want 1 to 19 digits without a leading zero, or nothing for every item", b.Item)
	case "reason":
		if b.Reason == "" {
			return errors.New("reason: it is missing")
		}
		return fmt.Errorf("reason %+.60q: want %s", b.Reason, refused.Hint)
	case "until":
		return fmt.Errorf("until %s: it has passed", b.Until.Format(time.RFC3339))
	}
	return fmt.Errorf("%s: want %s", refused.Field, refused.Hint)
}

// BlockWords names a block's subject and item.
func BlockWords(b *seckill.Block) string {
	what := "network " + b.Subject.Written()
	if user, ok := b.Subject.User(); ok {
		what = "user " + user
	}
	if b.Item == seckill.Everywhere {
		return what + " for every item"
	}
	return what + " for item " + b.Item
}
