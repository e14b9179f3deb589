package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	officeStack = "shop"
	officeARN   = "arn:aws:sts::123456789012:assumed-role/Operators/liu"
)

var officeNow = time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)

// recording is a Handler that executes nothing, and keeps what it was given.
type recording struct {
	of  []Handler // it takes their commands
	got []Command
}

func (r *recording) run(c Command) func(context.Context) (Done, error) {
	if (&server{handlers: r.of}).runs(c) == nil {
		return nil
	}
	return func(context.Context) (Done, error) {
		r.got = append(r.got, c)
		return Done{Result: true, Outcome: changed}, nil
	}
}

// deployed has the handlers of each function, as its main in functions has them.
var deployed = map[string][]Handler{"stage": {&ItemHandler{}, &ActivityHandler{}}, "refund": {NewPaymentHandler(nil)},
	"reconcile": {NewBillHandler(nil)},
	"repair":    {NewUserHandler(nil), NewBlockHandler(nil), NewOrderHandler(nil)},
	"deliver":   {NewWebhookHandler(nil)}, "tell": {NewEventHandler(nil), NewCountHandler(nil)},
	"acts": {NewActHandler(nil)}}

// office is an Office with a function for each short name, behind a server that plays API Gateway: it tells the
// caller's identity as AWS_IAM does, and passes headers and body as they are.
type office struct {
	clock  *memory.Clock
	key    ed25519.PrivateKey
	made   *recording
	called []string
	last   []byte // the event that a function got
	fail   error
	verify map[string]*Verifier
	url    string
	who    string
	log    bytes.Buffer
	trail  *trail
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{clock: memory.NewClock(officeNow), key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)),
		made: &recording{}, verify: map[string]*Verifier{}, who: officeARN}
	audit := slog.New(slog.NewTextHandler(&o.log, nil))
	o.trail = newTrail(t, o.clock)
	record := o.trail.recorder(audit)
	real := &Office{Record: record, Pictures: NewPictureHandler(&memory.Pictures{}),
		Live: newLive(o.clock, answers(`{"title":"a"}`)),
		Sessions: session.New(session.Deps{Clock: o.clock, Audit: record.Log,
			Sessions: ledger.New(memory.NewRows(memory.RowsOptions{Clock: o.clock}))}),
		Stack: officeStack, Clock: o.clock, Key: func() ed25519.PrivateKey { return o.key },
		Invoke: func(ctx context.Context, function string, event []byte) ([]byte, error) {
			o.called, o.last = append(o.called, function), event
			if o.fail != nil {
				return nil, o.fail
			}
			o.made.of = deployed[function] // a function executes the commands of its own handlers only
			return ServeSigned(audit, o.verifier(function), o.made)(ctx, event)
		}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		e := events.APIGatewayProxyRequest{HTTPMethod: r.Method, Path: r.URL.Path,
			Headers: map[string]string{"X-Who": r.Header.Get("X-Who")}, IsBase64Encoded: true,
			Body: base64.StdEncoding.EncodeToString(body.Bytes())}
		if o.who != "" {
			e.RequestContext.Identity = events.APIGatewayRequestIdentity{UserArn: o.who, AccountID: "123456789012"}
		}
		event, _ := json.Marshal(e)
		out, err := real.Handle(r.Context(), event)
		var a events.APIGatewayProxyResponse
		if err = errors.Join(err, json.Unmarshal(out, &a)); err != nil {
			t.Error(err)
		}
		for k, v := range a.Headers {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.StatusCode)
		_, _ = w.Write([]byte(a.Body))
	}))
	t.Cleanup(s.Close)
	o.url = s.URL
	return o
}

func (o *office) verifier(function string) *Verifier {
	public, _ := o.key.Public().(ed25519.PublicKey)
	return &Verifier{Stack: officeStack, Function: function, Clock: o.clock,
		Keys: func() []ed25519.PublicKey { return []ed25519.PublicKey{public} }}
}

// post sends one raw request; text is the answer.
func (o *office) post(t *testing.T, path, body string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url+path, strings.NewReader(body))
	must.OK(t, err)
	r.Header.Set("X-Who", "arn:aws:iam::123456789012:root")
	a, err := http.DefaultClient.Do(r)
	must.OK(t, err)
	defer a.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(a.Body); err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, b.String()
}

// TestEveryRoleAndCommand tries every pair by raw HTTP: it is executed for the caller whom API Gateway names, by the
// right function, or answered 403, and then no function hears of it.
func TestEveryRoleAndCommand(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, role := range append(seckill.Roles(), "admin", "") {
		for _, c := range Names() {
			o.called, o.made.got = nil, nil
			status, text := o.post(t, "/operator/"+string(role), Sample(c))
			switch {
			case !seckill.ValidRole(role):
				if status != http.StatusNotFound || o.called != nil {
					t.Errorf("role %q, %s: %d %s, called %v", role, c, status, text, o.called)
				}
			case May(role, c):
				if New(c).Spec().In == itself {
					if status != http.StatusOK || !strings.HasPrefix(text, `{"result":{`) || o.called != nil {
						t.Errorf("%s may %s: %d %s, called %v", role, c, status, text, o.called)
					}
				} else if status != http.StatusOK || !strings.HasPrefix(text, `{"result":true,`) || len(o.made.got) != 1 ||
					o.made.got[0].given().Who != officeARN || o.made.got[0].Spec().Name != c {
					t.Errorf("%s may %s: %d %s, executed %+v", role, c, status, text, o.made.got)
				}
			default:
				if status != http.StatusForbidden || !strings.Contains(text, `"code":"role_forbidden"`) ||
					o.called != nil {
					t.Errorf("%s may not %s: %d %s, called %v", role, c, status, text, o.called)
				}
			}
		}
	}
}

// TestRequestsThatTheOfficeRefuses: none reaches a function.
func TestRequestsThatTheOfficeRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for what, c := range map[string]struct {
		who, path, body string
		status          int
		text            string
	}{
		"a claim":        {officeARN, "/operator/viewer", `{"operator":{"command":"health","who":"x"}}`, 422, `"field":"who"`},
		"nobody":         {"", "/operator/viewer", `{"operator":{"command":"health"}}`, 403, "caller_unknown"},
		"a field":        {officeARN, "/operator/viewer", `{"operator":{"command":"health","role":"x"}}`, 422, "invalid"},
		"a second value": {officeARN, "/operator/viewer", `{"operator":{"command":"health"}}{}`, 422, "invalid"},
		"no JSON":        {officeARN, "/operator/viewer", `health`, 422, "invalid"},
		"no UTF-8":       {officeARN, "/operator/editor", "{\"operator\":{\"command\":\"\xff\"}}", 422, "invalid"},
		"no command":     {officeARN, "/operator/viewer", `{"operator":{}}`, 422, `"field":"command"`},
		"unknown":        {officeARN, "/operator/viewer", `{"operator":{"command":"drop"}}`, 422, `"field":"command"`},
		"an argument":    {officeARN, "/operator/viewer", `{"operator":{"command":"health","item":"1"}}`, 422, `"item"`},
		"too large":      {officeARN, "/operator/editor", strings.Repeat(" ", MaxEvent+1), 422, "body_too_large"},
		"no file": {officeARN, "/operator/editor", `{"operator":{"command":"health"}}` +
			strings.Repeat(" ", MaxSmall), 422, "body_too_large"},
		"a path":           {officeARN, "/operator/viewer/x", `{"operator":{"command":"health"}}`, 404, "not_found"},
		"another path":     {officeARN, "/operator", `{"operator":{"command":"health"}}`, 404, "not_found"},
		"a signed command": {officeARN, "/operator/viewer", `{"signed":{}}`, 422, "invalid"},
		"a control":        {"a\nb", "/operator/viewer", `{"operator":{"command":"health"}}`, 422, `"field":"who"`},
	} {
		o.who = c.who
		if status, text := o.post(t, c.path, c.body); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s, want %d %s", what, status, text, c.status, c.text)
		}
	}
	if o.called != nil {
		t.Errorf("functions were called: %v", o.called)
	}
	o.who, o.fail = officeARN, errors.New("function is busy")
	status, text := o.post(t, "/operator/viewer", `{"operator":{"command":"health"}}`)
	if status != http.StatusServiceUnavailable || !strings.Contains(text, "function stage: function is busy") {
		t.Errorf("a function that fails: %d %s", status, text)
	}
}

// TestSignedCommandsThatAreRefused: whatever is changed on the way, and whatever is old or meant for others, is
// executed by no function.
func TestSignedCommandsThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if status, text := o.post(t, "/operator/viewer", `{"operator":{"command":"health"}}`); status != http.StatusOK {
		t.Fatal(status, text)
	}
	right := o.last
	v := o.verifier("stage")
	try := func(v *Verifier, event []byte) bool {
		before := len(o.made.got)
		_, err := ServeSigned(slog.New(slog.DiscardHandler), v, o.made)(t.Context(), event)
		if (err == nil) != (len(o.made.got) > before) {
			t.Errorf("%v, yet executed %d", err, len(o.made.got)-before)
		}
		return err == nil
	}
	if !try(v, right) {
		t.Fatal("the right command is refused")
	}
	var whole signedEnvelope
	must.OK(t, json.Unmarshal(right, &whole))
	for i := range right { // each byte, in turn
		for _, bit := range []byte{1, 4, 64} {
			bad := bytes.Clone(right)
			bad[i] ^= bit
			var same signedEnvelope // the last letter of base64 has bits that say nothing
			if json.Unmarshal(bad, &same) == nil && cmp.Equal(whole, same) {
				continue
			}
			if try(v, bad) {
				t.Errorf("byte %d, bit %d: %s", i, bit, bad)
			}
		}
	}
	signed := func(key byte, s statement, command string) []byte {
		event, err := sign(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{key}, 32)), &s, []byte(command))
		must.OK(t, err)
		return event
	}
	at := officeNow.UnixMilli()
	health := `{"operator":{"command":"health","who":"a"}}`
	for what, event := range map[string][]byte{
		"unsigned":         []byte(health),
		"another key":      signed(2, statement{"shop", "stage", "viewer", at, nil}, health),
		"another stack":    signed(1, statement{"shop2", "stage", "viewer", at, nil}, health),
		"another function": signed(1, statement{"shop", "repair", "viewer", at, nil}, health),
		"old":              signed(1, statement{"shop", "stage", "viewer", at - 60_001, nil}, health),
		"from the future":  signed(1, statement{"shop", "stage", "viewer", at + 5_001, nil}, health),
		"another role":     signed(1, statement{"shop", "stage", "viewer", at, nil}, `{"operator":{"command":"stop"}}`),
		"no role":          signed(1, statement{"shop", "stage", "", at, nil}, health),
		"empty":            []byte(`{"signed":{}}`),
		"too large":        bytes.Repeat([]byte(" "), maxSignedEvent+1),
	} {
		if try(v, event) {
			t.Errorf("%s: executed", what)
		}
	}
	for _, at := range []int64{at - 60_000, at + 5_000} {
		if !try(v, signed(1, statement{"shop", "stage", "viewer", at, nil}, health)) {
			t.Errorf("refused at %d", at)
		}
	}
	// While one key replaces the other, both are right; without a key, or with a broken one, nothing is.
	second, _ := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32)).Public().(ed25519.PublicKey)
	first := v.Keys()[0]
	for _, c := range []struct {
		keys []ed25519.PublicKey
		want bool
	}{{nil, false}, {[]ed25519.PublicKey{second}, false}, {[]ed25519.PublicKey{second, first}, true},
		{[]ed25519.PublicKey{first[:31]}, false}, {[]ed25519.PublicKey{second, second, second, first}, false}} {
		v.Keys = func() []ed25519.PublicKey { return c.keys }
		if try(v, right) != c.want {
			t.Errorf("keys %x: want %v", c.keys, c.want)
		}
	}
}

// TestTheLargestCommandFits: the largest command, signed, is less than a Lambda call takes.
func TestTheLargestCommandFits(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	event, err := sign(key, &statement{Stack: strings.Repeat("s", 128), Function: "reconcile", Role: "operator",
		At: officeNow.UnixMilli()}, []byte(`"`+strings.Repeat("a", MaxEvent-2)+`"`))
	if lambda := 6_000_000; err != nil || len(event) > maxSignedEvent || maxSignedEvent >= lambda {
		t.Errorf("%d bytes, at most %d, %v", len(event), maxSignedEvent, err)
	}
}

// TestTextIsSignedAsItIs: a command says the same after its check as before its signature, also if something between
// back office and function writes the event anew, as MiniStack does.
func TestTextIsSignedAsItIs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	items := "[ {\"a\" : \"<b>&amp;\u2028\\u2028 表 \\\" \U0001F600\"},\n1.50e+1, 12345678901234567890 ]"
	status, text := o.post(t, "/operator/editor", `{"operator":{"command":"import","items":`+items+`}}`)
	if status != http.StatusOK || !sameJSON(t, o.made.got[0].(*Import).Items, []byte(items)) {
		t.Errorf("%d %s, %+v", status, text, o.made.got)
	}
	var again bytes.Buffer
	must.OK(t, json.Indent(&again, o.last, "", "  "))
	anew := bytes.ReplaceAll(again.Bytes(), []byte("表"), []byte(`\u8868`))
	anew = bytes.Replace(anew, []byte("15,"), []byte("15.0,"), 1)
	v := &Verifier{Stack: officeStack, Function: "stage", Clock: o.clock, Keys: func() []ed25519.PublicKey {
		return []ed25519.PublicKey{o.key.Public().(ed25519.PublicKey)}
	}}
	if _, _, err := v.open(anew); err != nil || bytes.Equal(anew, o.last) {
		t.Errorf("written anew: %v", err)
	}
	if _, _, err := v.open(bytes.Replace(anew, []byte("34567890"), []byte("34567891"), 1)); err == nil {
		t.Error("a changed number is executed")
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, err1 := canonical(a)
	y, err2 := canonical(b)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return bytes.Equal(x, y)
}
