package httpapi

import (
	"net/http"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// writeTo says to a blocked shopper whom to write to; %s is the shop's contact.
var writeTo = [languages]string{"您的账号暂时无法购买，如有疑问请联系 %s。",
	"Your account cannot buy at the moment. If you think that this is wrong, write to %s."}

// helpOf returns the advice for a shopper whose purchase ended for this reason, or "" if the reason's text is enough.
func helpOf(reason seckill.Code, r *http.Request, contact string) string {
	lang := preferred(r.Header["Accept-Language"])
	switch {
	case reason != seckill.CodeBlocked:
		return ""
	case contact == "":
		return words[reason][lang].detail
	}
	return strings.ReplaceAll(writeTo[lang], "%s", contact)
}
