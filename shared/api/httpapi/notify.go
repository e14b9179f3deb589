package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// maxNotify is the largest body of a notification in bytes; real ones have about 2 KiB.
const maxNotify = 64 << 10

// Notifier is the step that handles the payment provider's notifications. It returns nil only after the
// notification's effect is durable; the error is an *seckill.Error.
type Notifier interface {
	Notify(ctx context.Context, form map[string][]string) error
	// Unreadable reports a request that is not a form, which Notify never sees.
	Unreadable()
}

// NewNotify serves POST /seckill/alipay/notify. The provider repeats a notification until it reads "success", so a
// fault is answered by a 5xx status and a forged form by a 4xx status. There is no token: the form is signed. Refused
// notifications are logged, because each may be about money that is not recorded otherwise.
func NewNotify(flow Notifier, o Options) *Handler {
	rt := newRoute(http.MethodPost, "/seckill/alipay/notify", (&notifier{flow}).notify)
	rt.refusals = true
	return newHandler(o, rt)
}

type notifier struct{ flow Notifier }

func (n *notifier) notify(r *http.Request, _ string) (answer, error) {
	form, err := formOf(r)
	if err != nil {
		n.flow.Unreadable()
		return answer{}, err
	}
	if err := n.flow.Notify(r.Context(), form); err != nil {
		return answer{}, err
	}
	return answer{kindText, cacheNever, []byte("success")}, nil
}

// formOf reads only the body: URL parameters are not part of what the provider signed.
func formOf(r *http.Request) (url.Values, error) {
	const kind = "application/x-www-form-urlencoded"
	// Alipay sends "application/x-www-form-urlencoded; text/html; charset=utf-8", whose parameters are malformed;
	// they are ignored.
	if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(got), kind) {
		return nil, seckill.Invalid("Content-Type", kind)
	}
	body, err := readBody(r, make([]byte, maxNotify+1))
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, seckill.Invalid("body", kind)
	}
	return form, nil
}
