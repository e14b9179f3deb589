package operator

import (
	"context"
	"errors"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	// ImportTime is when an import has ended, however it went: admin waits for an instance of stage until its own end,
	// and Lambda cuts stage off.
	ImportTime = 90 * time.Second
	// importAgain is when to try again at the latest: most imports take a moment.
	importAgain = 2 * time.Second
)

// importingText tells staff why an import was refused.
const importingText = "Another import is being carried out. Try again in a moment."

var errImporting = errors.New("operator: another import is being carried out")

// oneImport carries out an import, unless another one has the place: imports that hang must not take all instances of
// stage, which loads items, nor of admin, which takes a stop. After an answer the place is free at once.
func (o *Office) oneImport(ctx context.Context, do func() ([]byte, error)) ([]byte, error) {
	if o.Imports == nil {
		return do()
	}
	row, err := o.Imports.Live(ctx, seckill.LiveImport)
	if err != nil {
		return nil, err
	}
	now := o.Clock.Now()
	if now.Before(row.Until) {
		return nil, importing(row.Until.Sub(now))
	}
	row, err = o.Imports.LeaseLive(ctx, row, now.Add(ImportTime))
	if errors.Is(err, seckill.ErrLeased) {
		return nil, importing(importAgain)
	}
	if err != nil {
		return nil, err
	}
	answer, err := do()
	if err == nil { // if this fails, the place is free after ImportTime
		_ = o.Imports.KeepLive(context.WithoutCancel(ctx), row, o.Clock.Now())
	}
	return answer, err
}

func importing(wait time.Duration) error {
	return &seckill.Error{Code: seckill.CodeTooMany, RetryAfter: min(wait, importAgain), Err: errImporting}
}
