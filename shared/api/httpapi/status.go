package httpapi

import (
	"net/http"

	"github.com/your-org/seckill/shared/seckill"
)

// statuses maps every code to its HTTP status.
var statuses = map[seckill.Code]int{
	seckill.CodeInvalid:       http.StatusUnprocessableEntity,
	seckill.CodeTooLarge:      http.StatusUnprocessableEntity,
	seckill.CodeToken:         http.StatusForbidden,
	seckill.CodeSignIn:        http.StatusUnauthorized,
	seckill.CodeSignInBroken:  http.StatusServiceUnavailable,
	seckill.CodeItemUnknown:   http.StatusNotFound,
	seckill.CodeOrderUnknown:  http.StatusNotFound,
	seckill.CodeNotFound:      http.StatusNotFound,
	seckill.CodeMethod:        http.StatusMethodNotAllowed,
	seckill.CodeNotStarted:    http.StatusTooEarly,
	seckill.CodeEnded:         http.StatusConflict,
	seckill.CodeStopped:       http.StatusConflict,
	seckill.CodeSoldOut:       http.StatusConflict,
	seckill.CodeNotEnough:     http.StatusConflict,
	seckill.CodeLimitReached:  http.StatusConflict,
	seckill.CodeKeyReused:     http.StatusUnprocessableEntity,
	seckill.CodeStillQueued:   http.StatusConflict,
	seckill.CodeNotCancelable: http.StatusConflict,
	seckill.CodeCancelLimit:   http.StatusConflict,
	seckill.CodeWrongState:    http.StatusConflict,
	seckill.CodeNotPayable:    http.StatusConflict,
	seckill.CodeNotPushed:     http.StatusConflict,
	seckill.CodeForged:        http.StatusBadRequest,
	seckill.CodeNotOurs:       http.StatusBadRequest,
	seckill.CodeNotReady:      http.StatusServiceUnavailable,
	seckill.CodeTicket:        http.StatusForbidden,
	seckill.CodeNoChecks:      http.StatusConflict,
	seckill.CodeCheck:         http.StatusForbidden,
	seckill.CodeAccountNew:    http.StatusForbidden,
	seckill.CodeBlocked:       http.StatusForbidden,
	seckill.CodeTooMany:       http.StatusTooManyRequests,
	seckill.CodeUnavailable:   http.StatusServiceUnavailable,
	seckill.CodeUnconfirmed:   http.StatusServiceUnavailable,
	seckill.CodeInternal:      http.StatusInternalServerError,
}

// Status returns a code's HTTP status; 500 for an unknown code.
func Status(c seckill.Code) int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}
