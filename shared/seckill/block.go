package seckill

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Limits of blocks.
const (
	MaxBlockReason = 200 // characters
	MaxBlockAuthor = 100 // characters
	MaxBlockBatch  = 100 // blocks that are written or read at once
	BlockShards    = 10  // partitions of the list of blocks
)

// Everywhere is the item of a block that holds for every item.
const Everywhere = "*"

// rangeBits are the sizes of network ranges that can be blocked: few, because a check looks for each size, and none
// wider, because those are for the firewall in front.
var rangeBits = map[bool][]int{true: {32, 28, 24, 20, 16}, false: {64, 56, 48, 40, 32}}

// Subject is who is blocked: "user:ID", or "net:RANGE" such as net:203.0.113.0/24.
type Subject string

// UserSubject is a user as a subject.
func UserSubject(user string) Subject { return Subject("user:" + user) }

// User returns the user of a subject, if it is one.
func (s Subject) User() (user string, ok bool) { return strings.CutPrefix(string(s), "user:") }

// Written is a subject as an operator writes it, and ParseSubject reads it.
func (s Subject) Written() string {
	_, text, _ := strings.Cut(string(s), ":")
	return text
}

// ParseSubject reads a user id, an address or a range, as an operator writes it.
func ParseSubject(text string) (Subject, error) {
	if ValidUserID(text) {
		return UserSubject(text), nil
	}
	addr, err := netip.ParseAddr(text)
	var p netip.Prefix
	if err == nil {
		addr = addr.Unmap()
		p = netip.PrefixFrom(addr, rangeBits[addr.Is4()][0]).Masked() // an IPv6 household has 64 bits to choose from
	} else if p, err = netip.ParsePrefix(text); err != nil || p.Addr().Is4In6() {
		return "", Invalid("subject", "")
	}
	sizes := rangeBits[p.Addr().Is4()]
	switch {
	case addr.Zone() != "" || !slices.Contains(sizes, p.Bits()):
		return "", Invalid("subject", fmt.Sprintf("/%d..", sizes[len(sizes)-1]))
	case p != p.Masked():
		return "", Invalid("subject", p.Masked().String())
	}
	return Subject("net:" + p.String()), nil
}

// NetworkSubjects returns every range that an address is in; none for an invalid address.
func NetworkSubjects(addr netip.Addr) []Subject {
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() {
		return nil
	}
	var out []Subject
	for _, bits := range rangeBits[addr.Is4()] {
		out = append(out, Subject("net:"+netip.PrefixFrom(addr, bits).Masked().String()))
	}
	return out
}

// Block keeps a user, or a range of network addresses, from buying.
type Block struct {
	Subject Subject   `row:"subject,key"` // user:ID or net:RANGE
	Item    string    `row:"item,key"`    // an item's id, or Everywhere ("*")
	Reason  string    `row:"reason"`      // for operators; shoppers are not told it
	By      string    `row:"by"`          // the operator
	Made    time.Time `row:"made"`
	Until   time.Time // zero means for good
}

// Check returns CodeInvalid with the name of the first wrong field, or nil.
func (b *Block) Check() error {
	text, isNet := strings.CutPrefix(string(b.Subject), "net:")
	if user, ok := b.Subject.User(); ok {
		text = user
	}
	if got, err := ParseSubject(text); err != nil || got != b.Subject || isNet == ValidUserID(text) {
		return Invalid("subject", "")
	}
	if b.Item != Everywhere && !ValidItemID(b.Item) {
		return Invalid("item", "")
	}
	if err := CheckLine("reason", b.Reason, MaxBlockReason); err != nil {
		return err
	}
	if err := CheckLine("by", b.By, MaxBlockAuthor); err != nil {
		return err
	}
	if b.Made.IsZero() || !b.Until.IsZero() && !b.Until.After(b.Made) {
		return Invalid("until", "")
	}
	return nil
}

// Holds reports whether the block holds at a time.
func (b *Block) Holds(at time.Time) bool { return b.Until.IsZero() || at.Before(b.Until) }

// Copied reports whether the stock keeps a copy of the block beside an item: those of users that hold there.
func (b *Block) Copied(item string) bool {
	_, ok := b.Subject.User()
	return ok && (b.Item == Everywhere || b.Item == item)
}

// CopiesBlocks reports whether the stock keeps copies of blocks beside an item now: while it is loaded, until its sale
// is over by every clock.
func (it *Item) CopiesBlocks(now time.Time) bool {
	return it.Loadable(now) && now.Before(it.End.Add(2*SkewBound))
}

// Blocks keeps who is blocked.
type Blocks interface {
	// PutBlock writes a block, and replaces a block of the same subject and item. Once it returns, Place places nothing
	// for that user.
	PutBlock(ctx context.Context, b Block) error
	// DropBlock removes a block. It reports whether there was one.
	DropBlock(ctx context.Context, s Subject, item string) (dropped bool, err error)
	BlockLister
}

// BlockLister lists the blocks.
type BlockLister interface {
	// ListBlocks lists a shard (0 to BlockShards-1) of the blocks, an index read: after is "" or the Next of an
	// earlier page.
	ListBlocks(ctx context.Context, shard int, after string, limit int) (Page[Block], error)
}

// BlockKeeper is what operators do with many blocks at once.
type BlockKeeper interface {
	// PutBlocks writes up to MaxBlockBatch blocks, no two of one subject and item: all or none.
	PutBlocks(ctx context.Context, blocks []Block) error
	// Stored reads the stored blocks that have subject and item in common with one of these, of which there are at
	// most MaxBlockBatch.
	Stored(ctx context.Context, blocks []Block) ([]Block, error)
	// BlocksOn lists the blocks of a subject: after is "" or the item of the last one before.
	BlocksOn(ctx context.Context, s Subject, after string, limit int) ([]Block, error)
}

// BlockReader reads what admission has to know.
type BlockReader interface {
	// UserBlocks reads a user's blocks, for an item and for every item, also those that are over.
	UserBlocks(ctx context.Context, user, item string) ([]Block, error)
	// RangeBlocks reads the blocks of network ranges, for an item and for every item, also those that are over. There
	// are at most 20 ranges. The read may lag, and never decides about a placement.
	RangeBlocks(ctx context.Context, ranges []Subject, item string) ([]Block, error)
}
