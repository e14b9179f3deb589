package fakegateway

import "fmt"

// Refusal is one of Alipay's refusals. Compare it with the values below by errors.Is.
type Refusal struct{ Code, SubCode, Message string }

func (r *Refusal) Error() string { return "fakegateway: " + r.SubCode + ": " + r.Message }

// The refusals.
var (
	ErrForm         = &Refusal{"40002", "isv.invalid-parameter", "a parameter is missing, given twice or wrong"}
	ErrAppID        = &Refusal{"40002", "isv.invalid-app-id", "no such app"}
	ErrMethod       = &Refusal{"40002", "isv.invalid-method", "no such method"}
	ErrSignType     = &Refusal{"40002", "isv.invalid-signature-type", "sign_type is not RSA2"}
	ErrSignature    = &Refusal{"40002", "isv.invalid-signature", "signature does not match"}
	ErrContent      = &Refusal{"40004", "ACQ.INVALID_PARAMETER", "biz_content is wrong"}
	ErrExpired      = &Refusal{"40004", "ACQ.NOW_TIME_AFTER_EXPIRE_TIME_ERROR", "time_expire has passed"}
	ErrClosed       = &Refusal{"40004", "ACQ.TRADE_HAS_CLOSE", "the trade is closed"}
	ErrPaid         = &Refusal{"40004", "ACQ.TRADE_HAS_SUCCESS", "the trade is paid"}
	ErrInconsistent = &Refusal{"40004", "ACQ.CONTEXT_INCONSISTENT", "the trade was opened with other content"}
	ErrNoTrade      = &Refusal{"40004", "ACQ.TRADE_NOT_EXIST", "no such trade"}
	ErrNotWaiting   = &Refusal{"40004", "ACQ.REASON_TRADE_STATUS_INVALID",
		"only a trade that waits for payment can be closed"}
	ErrNotPaid     = &Refusal{"40004", "ACQ.TRADE_STATUS_ERROR", "the trade has no money that could go back"}
	ErrFinished    = &Refusal{"40004", "ACQ.TRADE_HAS_FINISHED", "the trade is finished: the time for refunds is over"}
	ErrOtherRefund = &Refusal{"40004", "ACQ.DISCORDANT_REPEAT_REQUEST",
		"this out_request_no was used for another amount"}
	ErrRefundAmount = &Refusal{"40004", "ACQ.REASON_TRADE_REFUND_FEE_ERR", "more than was paid"}
	ErrRefundTotal  = &Refusal{"40004", "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL",
		"more than is left, or a part without an out_request_no"}
	ErrBalance     = &Refusal{"40004", "ACQ.SELLER_BALANCE_NOT_ENOUGH", "the seller's balance does not suffice"}
	ErrNoBill      = &Refusal{"40004", "isp.bill_not_exist", "no bill: the day is not over, or nothing moved on it"}
	ErrFull        = &Refusal{"20000", "isp.unknow-error", "too many trades; start afresh"}
	ErrUnavailable = &Refusal{"20000", "isp.unknow-error", "the gateway cannot reach its trades; try again"}
)

// unknowns are the answers of the fault CallUnknown: no such answer says what happened.
var unknowns = [...]*Refusal{
	{"20000", "isp.unknow-error", "unknown error"},
	{"20000", "aop.ACQ.SYSTEM_ERROR", "system error"},
	{"40004", "ACQ.SYSTEM_ERROR", "system error"},
}

// unavailable returns ErrUnavailable with its cause.
func unavailable(cause error) error { return fmt.Errorf("%w: %w", ErrUnavailable, cause) }
