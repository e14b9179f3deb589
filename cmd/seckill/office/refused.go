package office

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/seckill"
)

// Kind says what follows from an error.
type Kind int

// The kinds of errors. Only Unknown leaves open whether the command was executed.
const (
	Unknown     Kind = iota // no answer, or an answer that says nothing about the command
	Denied                  // IAM does not let this identity take the role
	Credentials             // the signature was not accepted
	NoRoute                 // the API has no back office
	Busy                    // the API lets no more calls through now
	Foreign                 // what answered is not an API of this system
)

// Error is an error in words.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Text }

// The names of API Gateway's own refusals, in the header X-Amzn-Errortype, and of the gateway responses that
// infra/api.yaml gives codes.
var refusals = map[string]Kind{
	"AccessDeniedException": Denied, "role_denied": Denied,
	"InvalidSignatureException": Credentials, "IncompleteSignatureException": Credentials,
	"UnrecognizedClientException": Credentials, "ExpiredTokenException": Credentials,
	"InvalidClientTokenId": Credentials, "signature_expired": Credentials,
	"MissingAuthenticationTokenException": NoRoute, // API Gateway's name for a path that it does not have
}

// refused puts an answer without a result into words.
func (o *Office) refused(resp *http.Response, role seckill.Role, body []byte) error {
	var said struct {
		operator.Refusal
		Message string // API Gateway's own; the same as "message"
	}
	_ = json.Unmarshal(body, &said) // what is not JSON says nothing
	kind, _, _ := strings.Cut(resp.Header.Get("X-Amzn-Errortype"), ":")
	what, known := refusals[kind]
	if !known {
		what, known = refusals[string(said.Code)]
	}
	if !known && resp.StatusCode == http.StatusForbidden && said.Code == "" {
		what, known = Denied, true
	}
	status := resp.StatusCode
	switch {
	case known && what == Denied:
		return o.denied(role, cmp.Or(said.Message, said.Detail))
	case known && what == Credentials:
		return &Error{Credentials, "AWS does not accept these credentials, or this machine's clock is wrong: " +
			shown(cmp.Or(said.Message, said.Detail), kind)}
	case known || status == http.StatusNotFound:
		return &Error{NoRoute, "it has no back office that knows this command: the stack is of an older release than " +
			"this tool, has no such part, or does not accept your signature (is this machine's clock right?)"}
	case said.Code == "role_forbidden":
		return &Error{Denied, said.Detail + " Name another role with --role."}
	case status == http.StatusTooManyRequests:
		return &Error{Busy, "its back office is busy, nothing was done: repeat the command"}
	case status == http.StatusRequestEntityTooLarge || said.Code == seckill.CodeTooLarge:
		return operator.ErrTooLarge
	case status >= http.StatusInternalServerError:
		return &Error{Unknown, failed(resp, &said.Refusal)}
	case status >= http.StatusBadRequest && said.Code != "":
		return &said.Refusal
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return &Error{Foreign, fmt.Sprintf("%s leads elsewhere (%s), which no API of this system does: not followed",
			o.Address, resp.Status)}
	}
	return &Error{Foreign, fmt.Sprintf("%s answers %s, which no API of this system does: %s", o.Address, resp.Status,
		shown(string(body), "nothing"))}
}

// waiting returns when to repeat a command that another one kept from being carried out, or 0 for every other refusal.
func waiting(body []byte) time.Duration {
	var said struct {
		Code seckill.Code
		Wait int64 `json:"retry_after_ms"`
	}
	if json.Unmarshal(body, &said) != nil || said.Code != seckill.CodeTooMany {
		return 0
	}
	return time.Duration(said.Wait) * time.Millisecond
}

// denied says what to ask for.
func (o *Office) denied(role seckill.Role, message string) error {
	return &Error{Denied, fmt.Sprintf("your AWS identity may not invoke operator/%s: ask for a policy that allows "+
		"execute-api:Invoke on %s%s, or name a role that you have with --role (%s)", role, o.Resource, Path(role),
		shown(message, "API Gateway gives no reason"))}
}

// failed puts a 5xx answer into words. A detail in Chinese is API Gateway's own: it knows no Accept-Language.
func failed(resp *http.Response, said *operator.Refusal) string {
	text := "its back office answers " + resp.Status
	if said.Detail != "" && !strings.HasPrefix(resp.Header.Get("Content-Language"), "zh") {
		text += ": " + shown(said.Detail, "")
	}
	if after, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && after > 0 {
		text += fmt.Sprintf(" (try again in %d s)", after)
	}
	return text
}

// shown returns a foreign text in one line, else another.
func shown(text, otherwise string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return otherwise
	}
	return fmt.Sprintf("%+.*q", maxShown, text)
}
