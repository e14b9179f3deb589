// Package officetest plays API Gateway's route POST /operator/{role} with AWS_IAM, for tests: no stand-in for AWS
// checks signatures or tells a function who calls. It checks Signature Version 4 by itself, by AWS's description ("AWS
// Signature Version 4 for API requests", IAM User Guide), against callers that the test names, and then has function
// admin handle the event that API Gateway would send. In: HTTP requests. Out: the function's answers, and API Gateway's
// refusals. It is not part of any deployed system.
package officetest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/your-org/seckill/shared/seckill"
)

// API Gateway's limits.
const (
	maxBody = 10 << 20
	maxSkew = 5 * time.Minute // of a signature's time
)

// MaxPayload is what Lambda takes and answers in a call, in bytes ("Lambda quotas", AWS Lambda Developer Guide).
const MaxPayload = 6 << 20

// Caller is an AWS identity.
type Caller struct {
	Secret, Token string // Token: "" for a user's key
	ARN, Account  string
	Roles         []seckill.Role // roles that its policy lets it take; nil means all roles
}

// Gateway is the route. It is an http.Handler, safe for concurrent use.
type Gateway struct {
	Region  string
	Callers map[string]Caller // by access key
	// Admin makes function admin handle an event. An error is the function's failure.
	Admin func(ctx context.Context, event []byte) ([]byte, error)
}

// Takes reports whether a request is for the route, and its role.
func Takes(r *http.Request) (role string, ok bool) {
	_, role, ok = strings.Cut(r.URL.Path, "/operator/")
	return role, ok && !strings.Contains(role, "/")
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	role, ok := Takes(r)
	if !ok || r.Method != http.MethodPost {
		Refuse(w, http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		Refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException", "Request Too Long")
		return
	}
	caller, why := g.caller(r, body)
	if why != "" {
		Refuse(w, http.StatusForbidden, "InvalidSignatureException", why)
		return
	}
	if caller.Roles != nil && !slices.Contains(caller.Roles, seckill.Role(role)) {
		Refuse(w, http.StatusForbidden, "AccessDeniedException", "User: "+caller.ARN+
			" is not authorized to perform: execute-api:Invoke on resource: POST/operator/"+role)
		return
	}
	g.serve(w, r, caller, role, body)
}

// serve has the function answer.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, caller Caller, role string, body []byte) {
	e := events.APIGatewayProxyRequest{Resource: "/operator/{role}", Path: "/operator/" + role, HTTPMethod: r.Method,
		Body: string(body), PathParameters: map[string]string{"role": role}, Headers: map[string]string{},
		RequestContext: events.APIGatewayProxyRequestContext{ResourcePath: "/operator/{role}", HTTPMethod: r.Method,
			Stage: "live", Identity: events.APIGatewayRequestIdentity{UserArn: caller.ARN, AccountID: caller.Account,
				Caller: "AROATEST"}}}
	for name := range r.Header {
		e.Headers[name] = r.Header.Get(name)
	}
	event, err := json.Marshal(e)
	var out []byte
	if len(event) > MaxPayload {
		Refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException", "Request Too Long")
		return
	}
	if err == nil {
		out, err = g.Admin(r.Context(), event)
	}
	var answer events.APIGatewayProxyResponse
	if err != nil || len(out) > MaxPayload || json.Unmarshal(out, &answer) != nil || answer.StatusCode == 0 {
		Refuse(w, http.StatusBadGateway, "InternalServerErrorException", "Internal server error")
		return
	}
	for name, v := range answer.Headers {
		w.Header().Set(name, v)
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.WriteString(w, answer.Body) // fails only if the client has disconnected
}

// Refuse answers as API Gateway does.
func Refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("X-Amzn-Errortype", kind)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// caller returns whose signature a request has, or why it is not accepted.
func (g *Gateway) caller(r *http.Request, body []byte) (c Caller, why string) {
	const algorithm = "AWS4-HMAC-SHA256"
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), algorithm+" ")
	part := map[string]string{}
	for _, field := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		part[name] = value
	}
	key, scope, _ := strings.Cut(part["Credential"], "/")
	stamp := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", stamp)
	c, known := g.Callers[key]
	switch {
	case !ok || !known:
		return c, "The security token included in the request is invalid."
	case err != nil || time.Since(at).Abs() > maxSkew:
		return c, "Signature expired: " + stamp
	case scope != fmt.Sprintf("%s/%s/execute-api/aws4_request", stamp[:8], g.Region):
		return c, "Credential should be scoped to a valid region and service: " + scope
	case r.Header.Get("X-Amz-Security-Token") != c.Token:
		return c, "The security token included in the request is invalid."
	}
	signed := strings.Split(part["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(signed, must) {
			return c, must + " is not signed"
		}
	}
	if c.Token != "" && !slices.Contains(signed, "x-amz-security-token") {
		return c, "x-amz-security-token is not signed"
	}
	var headers strings.Builder
	for _, name := range signed {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.Query().Encode(), headers.String(),
		part["SignedHeaders"], hash(body)}, "\n")
	text := strings.Join([]string{algorithm, stamp, scope, hash([]byte(request))}, "\n")
	signing := []byte("AWS4" + c.Secret)
	for _, of := range strings.Split(scope, "/") {
		signing = mac(signing, of)
	}
	if want := hex.EncodeToString(mac(signing, text)); !hmac.Equal([]byte(want), []byte(part["Signature"])) {
		return c, "The request signature we calculated does not match the signature you provided."
	}
	return c, ""
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}
