package operator

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

// Office is the entry of the back office: it takes commands from callers whom somebody else has verified, and has the
// stack's functions execute them. Handle takes requests of POST /operator/{role} of an API that checks AWS signatures
// (AWS_IAM): the caller is the identity that signed the request, as API Gateway reports it, and IAM decides who may
// take which role. Do takes commands of any other verified caller. An Office believes nothing that a request says about
// its caller; each command's Spec says which roles may give it. An Office is safe for concurrent use.
type Office struct {
	Stack string
	Clock seckill.Clock
	Key   func() ed25519.PrivateKey
	// Invoke calls one of the stack's functions by its short name, such as "stage".
	Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)
	// Record records commands, and executes the commands about the audit log. If nil, nothing is recorded, and commands
	// about the audit log are unknown.
	Record *Recorder
	// Sessions is the sign-in of staff in browsers; if nil, nobody signs in.
	Sessions *session.Flow
	// Live executes the commands about a running sale; if nil, they are unknown.
	Live *LiveHandler
	// Imports keeps the place of the one import that is carried out; if nil, any number is.
	Imports seckill.LiveRows
	// Pictures executes the command about pictures; if nil, it is unknown.
	Pictures *PictureHandler
}

// Functions returns the short names of the functions that the office calls, sorted.
func Functions() (names []string) {
	for _, c := range all {
		if in := c.Spec().In; in != itself && !slices.Contains(names, in) {
			names = append(names, in)
		}
	}
	slices.Sort(names)
	return names
}

// Handle answers one request. It returns no error: what goes wrong is a problem document.
func (o *Office) Handle(ctx context.Context, event []byte) ([]byte, error) {
	var e events.APIGatewayProxyRequest
	if err := json.Unmarshal(event, &e); err != nil || e.HTTPMethod == "" {
		return nil, errors.New("operator: not a request of API Gateway")
	}
	status, body := o.answer(ctx, &e)
	kind := "application/json"
	if status != http.StatusOK {
		kind = "application/problem+json"
	}
	return marshal(events.APIGatewayProxyResponse{StatusCode: status, Body: string(body), Headers: map[string]string{
		"Content-Type": kind, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}})
}

// answer executes a request's command.
func (o *Office) answer(ctx context.Context, e *events.APIGatewayProxyRequest) (status int, body []byte) {
	role, ok := strings.CutPrefix(e.Path, "/operator/")
	who := e.RequestContext.Identity.UserArn
	switch {
	case !ok || !seckill.ValidRole(seckill.Role(role)):
		return problem(seckill.Refuse(seckill.CodeNotFound))
	case e.HTTPMethod != http.MethodPost:
		return problem(seckill.Refuse(seckill.CodeMethod))
	case who == "" || e.RequestContext.Identity.AccountID == "": // otherwise the route would be open to all
		return forbidden("caller_unknown", "API Gateway names no caller: the route must check AWS signatures.")
	}
	body = []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return problem(&seckill.Error{Code: seckill.CodeInvalid, Field: "operator", Err: err})
		}
	}
	return o.Do(ctx, Caller{Who: who, Roles: []seckill.Role{seckill.Role(role)}}, body)
}

// Caller is who gives a command.
type Caller struct {
	Who   string         // the verified identity
	Roles []seckill.Role // the caller may do what any of them may do
	// the roles may have been taken from the caller meanwhile: commands that change something are refused
	Stale bool
	// the caller signed in at the issuer too long ago for commands that move money. False of who signs with AWS
	// credentials, for which IAM can want a second factor, and of a local system's links
	Old bool
}

// may returns the first of the caller's roles that may give a command; of what everybody reads, an editor sees most.
func (c *Caller) may(command Command) (seckill.Role, bool) {
	roles := command.Spec().Roles
	for _, r := range append([]seckill.Role{seckill.RoleEditor}, c.Roles...) {
		if slices.Contains(roles, r) && slices.Contains(c.Roles, r) {
			return r, true
		}
	}
	return "", false
}

// names are the caller's roles as the audit log has them.
func (c *Caller) names(separator string) string {
	out := make([]string, len(c.Roles))
	for i, r := range c.Roles {
		out[i] = string(r)
	}
	return strings.Join(out, separator)
}

// signInAgain refuses a command that moves money, of a caller who is Old.
const signInAgain = "sign_in_again"

// Do executes a command, whose body names no caller. It passes a function's answer on as it is, be it a result or a
// problem document: Client reads both.
func (o *Office) Do(ctx context.Context, c Caller, body []byte) (status int, out []byte) {
	command, err := o.read(body, c.Who)
	if err != nil {
		return problem(err)
	}
	role, ok := c.may(command)
	switch spec := command.Spec(); {
	case !ok:
		o.Record.refused(context.WithoutCancel(ctx), command, c.names(","), "role_forbidden")
		return forbidden("role_forbidden", fmt.Sprintf("Role %s may not %s; role %s may.", c.names(", "), spec.Name,
			spec.Roles[0]))
	case c.Stale && !ReadsOnly(command):
		return problem(&seckill.Error{Code: seckill.CodeUnavailable, RetryAfter: seckill.StaffAgain,
			Err: errors.New("operator: nobody can say now whether the caller still has their roles")})
	case c.Old && spec.Money:
		o.Record.refused(context.WithoutCancel(ctx), command, c.names(","), signInAgain)
		return forbidden(signInAgain, fmt.Sprintf("This moves money, which takes a sign-in of the last %d minutes. "+
			"Sign in again, then give the command again.", int(seckill.StaffProof.Minutes())))
	}
	answer, err := o.Record.record(ctx, command, c.names(","), func() ([]byte, error) {
		return o.execute(ctx, command, role)
	})
	if err != nil {
		return problem(err)
	}
	return http.StatusOK, answer
}

// execute has the command's function execute it.
func (o *Office) execute(ctx context.Context, c Command, role seckill.Role) ([]byte, error) {
	if c.Spec().In == itself {
		return o.own(ctx, c)
	}
	event, err := marshal(envelope[Command]{c})
	if err != nil {
		return nil, err
	}
	call := func() ([]byte, error) { return o.invoke(ctx, c.Spec().In, role, event) }
	if _, ok := c.(*Import); ok {
		return o.oneImport(ctx, call)
	}
	return call()
}

// own executes a command itself.
func (o *Office) own(ctx context.Context, c Command) ([]byte, error) {
	if o.Record == nil {
		return nil, seckill.Refuse(seckill.CodeNotFound)
	}
	handlers := []Handler{NewAuditHandler(o.Record.Log), NewSessionHandler(o.Sessions)}
	if o.Live != nil {
		handlers = append(handlers, o.Live)
	}
	if o.Pictures != nil {
		handlers = append(handlers, o.Pictures)
	}
	s := server{audit: o.Record.Text, handlers: handlers}
	if s.runs(c) == nil {
		return nil, seckill.Refuse(seckill.CodeNotFound)
	}
	return s.answer(ctx, seckill.RoleEditor, c, nil)
}

// invoke has a function execute a command.
func (o *Office) invoke(ctx context.Context, function string, role seckill.Role, command []byte) ([]byte, error) {
	signed, err := sign(o.Key(), &statement{Stack: o.Stack, Function: function, Role: role,
		At: o.Clock.Now().UnixMilli()}, command)
	if err != nil {
		return nil, err
	}
	answer, err := o.Invoke(ctx, function, signed)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", function, err)
	}
	return answer, nil
}

// Items returns a client of the commands about items, which the office itself gives as a viewer.
func (o *Office) Items() Client {
	return Client{Who: "the live screen", Call: func(ctx context.Context, event []byte) ([]byte, error) {
		return o.invoke(ctx, (&ReadLevel{}).Spec().In, seckill.RoleViewer, event)
	}}
}

// read returns a body's command with the verified caller.
func (o *Office) read(body []byte, who string) (Command, error) {
	if len(body) > MaxEvent {
		return nil, seckill.Refuse(seckill.CodeTooLarge)
	}
	if !utf8.Valid(body) {
		return nil, seckill.Invalid("operator", "")
	}
	c, err := commandOf(all, body)
	if err != nil {
		return nil, err
	}
	if len(body) > MaxSmall && !c.Spec().File {
		return nil, seckill.Refuse(seckill.CodeTooLarge)
	}
	if c.given().Who != "" { // the body claims a caller
		return nil, seckill.Invalid("who", "")
	}
	c.given().Who = who
	return c, check(c)
}

// forbidden returns the problem document of a caller who may not do this.
func forbidden(code, detail string) (status int, body []byte) {
	body, _ = marshal(map[string]any{"type": "urn:problem-type:seckill:" + code, "title": "Not allowed",
		"status": http.StatusForbidden, "code": code, "detail": detail}) // strings and a number always marshal
	return http.StatusForbidden, body
}
