package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// CountAttempt implements seckill.Attempts in one update. If the update is executed twice, the shopper loses an
// attempt. DynamoDB deletes the row of a minute some time afterwards.
func (l *Ledger) CountAttempt(ctx context.Context, user, item string, now time.Time) error {
	window := now.Truncate(seckill.AttemptWindow)
	err := l.rows.Update(ctx, Write{
		Key: Key{Table: TableAttempts, PK: user, SK: item + "#" + strconv.FormatInt(window.Unix(), 10)},
		Op:  OpUpdate, Set: Row{"v": Version, attrExpires: window.Add(time.Hour).Unix()},
		Add: map[string]int64{"n": 1}, If: []Cond{AtMost("n", seckill.MaxAttempts-1)}})
	var canceled *Canceled
	switch {
	case errors.As(err, &canceled):
		return seckill.ErrAttempts
	case err != nil:
		return fmt.Errorf("ledger: count an answer: %w", err)
	}
	return nil
}

var questionCodec = &codec[seckill.Question]{table: TableQuestions, more: 1}

// Questions implements seckill.Questions.
func (l *Ledger) Questions(ctx context.Context, item string) ([]seckill.Question, error) {
	var all []seckill.Question
	for after := ""; ; {
		rows, err := l.rows.Query(ctx, TableQuestions, item, after, MaxBatch)
		if err != nil {
			return nil, fmt.Errorf("ledger: questions of %s: %w", item, err)
		}
		part, err := decodeAll(rows, questionCodec.decode)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
		if len(rows) < MaxBatch || len(all) >= seckill.MaxQuestions {
			return all, nil
		}
		after = all[len(all)-1].ID
	}
}

// PutQuestion implements seckill.QuestionKeeper in one write.
func (l *Ledger) PutQuestion(ctx context.Context, item string, q seckill.Question) error {
	if err := q.Check(); err != nil {
		return err
	}
	if q.ID == "" || !seckill.ValidItemID(item) {
		return errors.New("ledger: a question without an id or an item")
	}
	return l.change(ctx, "put a question", nil, Write{Key: Key{Table: TableQuestions, PK: item, SK: q.ID}, Op: OpPut,
		Row: questionCodec.encode(&q, 0)})
}

// DropQuestion implements seckill.QuestionKeeper in one write.
func (l *Ledger) DropQuestion(ctx context.Context, item, id string) error {
	return l.change(ctx, "drop a question", nil, Write{Key: Key{Table: TableQuestions, PK: item, SK: id}, Op: OpDelete})
}
