package operator

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// MaxBlockPage is the largest number of blocks of a page: one answer holds them.
const MaxBlockPage = 1000

// BlockHandler executes commands about blocks. It is safe for concurrent use.
type BlockHandler struct{ block *block.Flow }

// NewBlockHandler returns a handler that uses the flow.
func NewBlockHandler(flow *block.Flow) *BlockHandler { return &BlockHandler{flow} }

// Block is a seckill.Block as operators write and read it.
type Block struct {
	Subject string    `json:"subject"`        // a user, or a range of addresses: see seckill.ParseSubject
	Item    string    `json:"item,omitempty"` // "": every item
	Reason  string    `json:"reason"`
	Until   time.Time `json:"until,omitzero"` // zero: for good
	By      string    `json:"by,omitempty"`   // by and made are the shop's
	Made    time.Time `json:"made,omitzero"`
}

// BlockPage is a page of the list of blocks.
type BlockPage struct {
	Blocks     []Block  `json:"blocks"`
	Unreadable []string `json:"unreadable,omitempty"` // rows that the page leaves out
	Next       string   `json:"next,omitempty"`
}

func validSubject(text string) bool {
	_, err := seckill.ParseSubject(text)
	return err == nil
}

func (h *BlockHandler) commands() []command { return blockCommands }

// do executes a command.
func (h *BlockHandler) do(ctx context.Context, r *request) (done, error) {
	switch r.Command {
	case cmdBlock:
		out, err := h.put(ctx, r)
		return done{result: out, outcome: changedIf(out.Made+out.Changed > 0), more: []slog.Attr{
			slog.Int("made", out.Made), slog.Int("changed", out.Changed)}}, err
	case cmdUnblock:
		s, err := seckill.ParseSubject(r.Subject)
		if err != nil {
			return done{}, err
		}
		dropped, err := h.block.Drop(ctx, s, cmp.Or(r.Item, seckill.Everywhere))
		return done{result: dropped, outcome: changedIf(dropped)}, err
	default: // the only other command that check allows
		page, err := h.list(ctx, r)
		return done{result: page, outcome: read}, err
	}
}

func (h *BlockHandler) put(ctx context.Context, r *request) (block.Done, error) {
	by := signature(r.Who)
	if utf8.RuneCountInString(by) > seckill.MaxBlockAuthor {
		return block.Done{}, seckill.Invalid("who", fmt.Sprintf("1..%d", seckill.MaxBlockAuthor))
	}
	blocks := make([]seckill.Block, len(r.Blocks))
	for i, b := range r.Blocks {
		s, err := seckill.ParseSubject(b.Subject)
		switch {
		case err != nil:
			return block.Done{}, err
		case b.By != "" || !b.Made.IsZero():
			return block.Done{}, seckill.Invalid("by", "")
		}
		blocks[i] = seckill.Block{Subject: s, Item: cmp.Or(b.Item, seckill.Everywhere), Reason: b.Reason,
			Until: b.Until}
	}
	return h.block.Put(ctx, blocks, by, r.Dry)
}

func (h *BlockHandler) list(ctx context.Context, r *request) (BlockPage, error) {
	out := BlockPage{Blocks: []Block{}}
	var s seckill.Subject
	if r.Subject != "" {
		var err error
		if s, err = seckill.ParseSubject(r.Subject); err != nil {
			return out, err
		}
	}
	p, err := h.block.List(ctx, s, r.Cursor, r.Limit)
	if err != nil {
		return out, err
	}
	out.Next = p.Next
	for _, b := range p.Rows {
		out.Blocks = append(out.Blocks, Block{b.Subject.Written(), strings.TrimSuffix(b.Item, seckill.Everywhere),
			b.Reason,
			b.Until, b.By, b.Made})
	}
	for _, err := range p.Unreadable {
		out.Unreadable = append(out.Unreadable, err.Error())
	}
	return out, nil
}

// Block writes blocks, up to block.MaxPut; with dry it only checks them. If the result names unknown items, nothing
// was written.
func (c *Client) Block(ctx context.Context, blocks []Block, dry bool) (out block.Done, err error) {
	err = c.give(ctx, &request{Command: cmdBlock, Blocks: blocks, Dry: dry}, &out)
	return out, err
}

// Unblock removes a block; item is "" for the one of every item. It reports whether there was one.
func (c *Client) Unblock(ctx context.Context, subject, item string) (dropped bool, err error) {
	err = c.give(ctx, &request{Command: cmdUnblock, Subject: subject, Item: item}, &dropped)
	return dropped, err
}

// Blocks lists blocks, those of one subject or, if it is "", all; cursor is "" or the Next of an earlier page.
func (c *Client) Blocks(ctx context.Context, subject, cursor string, limit int) (out BlockPage, err error) {
	err = c.give(ctx, &request{Command: cmdBlocks, Subject: subject, Cursor: cursor, Limit: limit}, &out)
	return out, err
}
