package operator

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// NewBlockHandler returns a handler of the commands about blocks.
func NewBlockHandler(flow *block.Flow) Handler {
	return handler(func(ctx context.Context, c does[*block.Flow]) (Done, error) { return c.Do(ctx, flow) })
}

// Block is a seckill.Block as operators write and read it.
type Block struct {
	Subject string    `json:"subject"`        // a user, or a range of addresses: see seckill.ParseSubject
	Item    string    `json:"item,omitempty"` // "" means every item
	Reason  string    `json:"reason"`
	Until   time.Time `json:"until,omitzero"` // zero means for good
	By      string    `json:"by,omitempty"`   // the shop sets By and Made
	Made    time.Time `json:"made,omitzero"`
}

// BlockPage is a page of the list of blocks.
type BlockPage struct {
	Blocks     []Block  `json:"blocks"`
	Unreadable []string `json:"unreadable,omitempty"` // rows that the page leaves out
	Next       string   `json:"next,omitempty"`
}

// PutBlocks makes blocks hold; with dry it only checks them.
type PutBlocks struct {
	Given
	Blocks Blocks `json:"blocks" sample:"[{\"subject\":\"1001\",\"reason\":\"r\"}]"`
	Dry    bool   `json:"dry,omitempty"`
}

// Blocks are blocks as operators write them; the flow checks them.
type Blocks []Block

func (b Blocks) attrs() []slog.Attr {
	if len(b) == 1 {
		return []slog.Attr{slog.String("subject", short(b[0].Subject)), slog.String("item", short(b[0].Item))}
	}
	return []slog.Attr{slog.Int("blocks", len(b))}
}

func (*PutBlocks) Spec() Spec {
	return Spec{Name: "block", Path: "blocks add", Roles: operators, In: "repair", File: true, Short: "Block shoppers"}
}

// reason returns the reason of a single block.
func (c *PutBlocks) reason() string {
	if len(c.Blocks) == 1 {
		return c.Blocks[0].Reason
	}
	return ""
}

func (c *PutBlocks) Do(ctx context.Context, flow *block.Flow) (Done, error) {
	by := signature(c.Who)
	if err := seckill.CheckLine("who", by, seckill.MaxBlockAuthor); err != nil {
		return Done{}, err
	}
	blocks := make([]seckill.Block, len(c.Blocks))
	for i, b := range c.Blocks {
		s, err := seckill.ParseSubject(b.Subject)
		switch {
		case err != nil:
			return Done{}, err
		case b.By != "" || !b.Made.IsZero():
			return Done{}, seckill.Invalid("by", "")
		}
		blocks[i] = seckill.Block{Subject: s, Item: cmp.Or(b.Item, seckill.Everywhere), Reason: seckill.Tidy(b.Reason),
			Until: b.Until}
	}
	out, err := flow.Put(ctx, blocks, by, c.Dry)
	return Done{Result: out, Outcome: changedIf(out.Made+out.Changed > 0), More: []slog.Attr{
		slog.Int("made", out.Made), slog.Int("changed", out.Changed)}}, err
}

// DropBlock removes a block.
type DropBlock struct {
	Given
	Item    string `json:"item,omitempty" is:"item"` // "" means the block for every item
	Subject string `json:"subject" is:"subject"`
}

func (*DropBlock) Spec() Spec {
	return Spec{Name: "unblock", Path: "blocks remove", Roles: operators, In: "repair", Short: "Remove a block"}
}

func (c *DropBlock) Do(ctx context.Context, flow *block.Flow) (Done, error) {
	s, err := seckill.ParseSubject(c.Subject)
	if err != nil {
		return Done{}, err
	}
	dropped, err := flow.Drop(ctx, s, cmp.Or(c.Item, seckill.Everywhere))
	return Done{Result: dropped, Outcome: changedIf(dropped)}, err
}

// ListBlocks lists the blocks of one subject, or all blocks.
type ListBlocks struct {
	Given
	Subject string `json:"subject,omitempty" is:"subject"`
	Cursor  string `json:"cursor,omitempty" is:"cursor" log:"-"`
	Limit   int    `json:"limit" is:"page" log:"-"`
}

func (*ListBlocks) Spec() Spec {
	return Spec{Name: "blocks", Path: "blocks list", Roles: seeShoppers, In: "repair",
		Short: "List the blocks, or those of one user or range"}
}

func (c *ListBlocks) Do(ctx context.Context, flow *block.Flow) (Done, error) {
	out := BlockPage{Blocks: []Block{}}
	var s seckill.Subject
	if c.Subject != "" {
		var err error
		if s, err = seckill.ParseSubject(c.Subject); err != nil {
			return Done{}, err
		}
	}
	p, err := flow.List(ctx, s, c.Cursor, c.Limit)
	if err != nil {
		return Done{}, err
	}
	out.Next = p.Next
	for _, b := range p.Rows {
		out.Blocks = append(out.Blocks, Block{b.Subject.Written(), strings.TrimSuffix(b.Item, seckill.Everywhere),
			b.Reason, b.Until, b.By, b.Made})
	}
	for _, err := range p.Unreadable {
		out.Unreadable = append(out.Unreadable, err.Error())
	}
	return readDone(out, nil)
}
