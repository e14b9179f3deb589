// Package staff has what flows share that staff give commands to.
package staff

import (
	"context"
	"errors"

	"github.com/your-org/seckill/shared/seckill"
)

// CheckWords refuses a name, or a reason of more than most characters, that an order's history may not store.
func CheckWords(who, why string, most int) error {
	if err := CheckName(who); err != nil {
		return err
	}
	return seckill.CheckLine("why", why, most)
}

// CheckName refuses a name that an order's history may not store.
func CheckName(who string) error { return seckill.CheckLine("who", who, seckill.MaxStaffName) }

// Order reads an order. The error is an *seckill.Error: CodeOrderUnknown.
func Order(ctx context.Context, l seckill.OrderReader, id string) (seckill.Order, error) {
	if !seckill.ValidOrderID(id) {
		return seckill.Order{}, seckill.Refuse(seckill.CodeOrderUnknown)
	}
	o, err := l.Order(ctx, id)
	if errors.Is(err, seckill.ErrNoOrder) {
		return seckill.Order{}, seckill.Refuse(seckill.CodeOrderUnknown)
	}
	if err != nil {
		return seckill.Order{}, seckill.AsError(err)
	}
	return o, nil
}
