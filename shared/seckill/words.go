package seckill

import (
	"context"
	"errors"
)

// CheckWords refuses a name, or a reason of more than most characters, that an order's history may not store.
func CheckWords(who, why string, most int) error {
	if err := CheckWho(who); err != nil {
		return err
	}
	return CheckLine("why", why, most)
}

// CheckWho refuses a name that an order's history may not store.
func CheckWho(who string) error { return CheckLine("who", who, MaxStaffName) }

// ReadOrder reads an order. The error is an *Error: CodeOrderUnknown.
func ReadOrder(ctx context.Context, l OrderReader, id string) (Order, error) {
	if !ValidOrderID(id) {
		return Order{}, Refuse(CodeOrderUnknown)
	}
	o, err := l.Order(ctx, id)
	if errors.Is(err, ErrNoOrder) {
		return Order{}, Refuse(CodeOrderUnknown)
	}
	if err != nil {
		return Order{}, AsError(err)
	}
	return o, nil
}
