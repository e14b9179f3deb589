package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/flow/office/block"
	"github.com/your-org/seckill/shared/seckill"
)

// Limits of an import.
const (
	blockRate    = 1000 // blocks a second: a new on-demand table takes 4,000 writes, a block is 3 with its index
	maxBlockRate = 10_000
)

func importBlocksCommand(f *blockFlags) *cobra.Command {
	var rate int
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Block all users and ranges of a .csv file; if a line is wrong, none",
		Long: `Block all users and ranges of a CSV file (UTF-8 or UTF-16; commas, semicolons or tabs; up to
` + strconv.Itoa(linefile.MaxLines) + ` lines). Its first line names the columns: subject (a user id, an
address or a range) and reason; item (empty or *: every item) and until (such as
2026-12-31T16:00:00Z; empty: for good) may be missing. No two lines have the same subject and item.

All lines are checked before the first block is made. If lines are wrong, the command prints the
first ` + strconv.Itoa(linefile.MaxFaults) + ` of them by number, counts the rest, and changes nothing.

An import may break off, and blocks what it says until then. Give the same command again: it leaves
alone what stands already, and goes on. A line whose until has passed meanwhile is wrong: remove it.`,
		Example: `  seckill blocks import accounts.csv
  seckill blocks import accounts.csv --rate 200 --stack seckill-prod`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rate < 1 || rate > maxBlockRate {
				return fmt.Errorf("--rate %d: want 1 to %d", rate, maxBlockRate)
			}
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			s, err := f.signed(cmd, true)
			if err != nil {
				return err
			}
			now, err := s.now(cmd.Context())
			if err != nil {
				return s.explain(err, "")
			}
			lines, err := linefile.ReadBlocks(file, "x", now) // the shop records by whom
			if err == nil {
				err = knownItems(cmd, s, lines)
			}
			if err != nil {
				return faults(cmd, s, args[0], err)
			}
			done, err := applyBlocks(cmd, s, lines, rate)
			return f.print(cmd, err, &done, func(p *page) {
				p.line("Imported %s: %d new, %d changed, %d unchanged.", counted(len(lines), "block", "blocks"),
					done.Made, done.Changed, done.Same)
			})
		},
	}
	f.named(cmd)
	cmd.Flags().IntVar(&rate, "rate", blockRate, fmt.Sprintf("blocks a second, 1 to %d", maxBlockRate))
	return cmd
}

// faults prints the wrong lines of a file, and returns the command's error.
func faults(cmd *cobra.Command, s *shop, file string, err error) error {
	var bad *linefile.Error
	if !errors.As(err, &bad) {
		if err := s.explain(err, file); errors.As(err, &faultError{}) {
			return err
		}
		return fmt.Errorf("%s: %w; nothing was changed", file, err)
	}
	for _, f := range bad.Faults {
		fmt.Fprintf(cmd.ErrOrStderr(), "seckill: %s: line %d: %s\n", file, f.Line, f.What)
	}
	more := ""
	if n := bad.Count - len(bad.Faults); n > 0 {
		more = fmt.Sprintf(", %d more than these", n)
	}
	return fmt.Errorf("%s: %w%s; nothing was changed", file, bad, more)
}

// knownItems has the shop look for the items of a file, and returns a *linefile.Error with the lines that first name an
// unknown item.
func knownItems(cmd *cobra.Command, s *shop, lines []linefile.BlockLine) error {
	first := map[string]int{seckill.Everywhere: 0}
	var ask []operator.Block
	for i := range lines {
		if _, seen := first[lines[i].Item]; !seen {
			first[lines[i].Item] = lines[i].N
			ask = append(ask, asWritten(&lines[i].Block))
		}
	}
	var bad linefile.Error
	for batch := range slices.Chunk(ask, block.MaxPut) {
		done, err := operator.Give[block.Done](cmd.Context(), &s.Client, &operator.PutBlocks{Blocks: batch, Dry: true})
		if err != nil {
			return err
		}
		for _, item := range done.Unknown {
			bad.Add(first[item], fmt.Sprintf("item %s: %s has no such item", item, s.name))
		}
	}
	if bad.Count > 0 {
		return &bad
	}
	return nil
}

// applyBlocks makes the blocks batch by batch, at most rate a second, and prints its progress each second.
func applyBlocks(cmd *cobra.Command, s *shop, lines []linefile.BlockLine, rate int) (all block.Done, err error) {
	began := time.Now()
	said := progress{cmd.ErrOrStderr(), began.Add(time.Second)}
	for at := 0; ; {
		batch := lines[at:min(at+min(block.MaxPut, rate), len(lines))]
		done, err := applyBatch(cmd, s, batch)
		if err != nil {
			return all,
				faultError{fmt.Errorf("broken off at line %d, with %d of %d blocks made: %w; give the same command "+
					"again: it goes on there", batch[0].N, at, len(lines), err)}
		}
		all.Made, all.Changed, all.Same = all.Made+done.Made, all.Changed+done.Changed, all.Same+done.Same
		at += len(batch)
		if at == len(lines) {
			return all, nil
		}
		said.line("%d of %d blocks, %.0f a second", at, len(lines), float64(at)/time.Since(began).Seconds())
		due := time.Duration(all.Made+all.Changed) * time.Second / time.Duration(rate) // unchanged blocks cost no write
		if wait(cmd.Context(), time.Until(began.Add(due))) != nil {
			return all,
				faultError{fmt.Errorf("interrupted, with %d of %d blocks made; give the same command again: it "+
					"goes on there", at, len(lines))}
		}
	}
}

// applyBatch makes some blocks.
func applyBatch(cmd *cobra.Command, s *shop, batch []linefile.BlockLine) (done block.Done, err error) {
	blocks := make(operator.Blocks, len(batch))
	for i := range batch {
		blocks[i] = asWritten(&batch[i].Block)
	}
	err = tried(cmd, s, lineOf(batch[0].N), func(ctx context.Context) (err error) {
		done, err = operator.Give[block.Done](ctx, &s.Client, &operator.PutBlocks{Blocks: blocks})
		return err
	})
	if err == nil && len(done.Unknown) > 0 {
		err = fmt.Errorf("item %s is gone", done.Unknown[0])
	}
	return done, err
}
