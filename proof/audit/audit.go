// Package audit checks a finished sale against the guarantees I1 to I11, A1, A4 and L1 to L4
// (docs/GUARANTEES.md). It reads the
// ledger's rows, the item's keys in Redis, the fake gateway's trades if there are any, and optionally a crowd's
// journal. Its Report lists each guarantee as held, broken (with rows) or unknown (with the missing evidence). It
// changes nothing.
//
// No guarantee holds without evidence: each result counts what it rests on. The package decodes raw rows and keys
// itself, by docs/DATA.md, so that a fault in the code that wrote them cannot hide. Time and memory are linear; a sale
// of a million units takes about a gigabyte.
package audit

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Options say what to audit.
type Options struct {
	Item    string
	Journal io.Reader // nil if there is none
	// Again is the delay before a second reading confirms findings; 0 means no second reading. Without it, rows that
	// change during the first may look inconsistent.
	Again time.Duration
}

// Run audits an item. With o.Again it keeps only findings that a second reading confirms.
func Run(ctx context.Context, src Source, o Options) (*Report, error) {
	told, err := readJournal(o.Journal, o.Item)
	if err != nil {
		return nil, err
	}
	first, err := check(ctx, src, o.Item, told)
	if err != nil || o.Again == 0 || len(first.are(Broken)) == 0 {
		return first, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(o.Again):
	}
	second, err := check(ctx, src, o.Item, told)
	if err != nil {
		return nil, err
	}
	second.confirm(first)
	return second, nil
}

// check reads the sale once and checks every guarantee.
func check(ctx context.Context, src Source, item string, told *journalView) (*Report, error) {
	began := time.Now()
	s := newSale(item)
	if err := src.Read(ctx, s.add); err != nil {
		return nil, err
	}
	if s.item.stock == 0 {
		return nil, fmt.Errorf("item %s: %w", item, ErrNoItem)
	}
	s.checkUnits()
	s.checkOrders()
	s.checkMoney()
	s.checkStock()
	s.checkJournal(told)
	s.checkBlocked()
	return s.report(told, time.Since(began)), nil
}
