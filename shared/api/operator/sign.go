package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of signed commands.
const (
	MaxAge         = time.Minute              // of a command, from its signature on
	maxAhead       = 5 * time.Second          // clocks of two machines differ
	maxSignedEvent = MaxEvent + 4<<10         // bytes: the command, and what is signed with it
	maxKeys        = 3                        // that are checked: one that signs, others while it is replaced
	purpose        = "seckill command v1\n"   // stands before what is signed: the key signs nothing else
	notSigned      = "operator: not signed: " // nothing was done
)

// statement is what the back office signs about a command. The command itself names who gives it.
type statement struct {
	Stack    string       `json:"stack"`
	Function string       `json:"function"`
	Role     seckill.Role `json:"role"`
	At       int64        `json:"at"`     // Unix milliseconds
	Command  []byte       `json:"sha256"` // of the command as canonical writes it
}

// signed is a command as a function takes it from the back office.
type signed struct {
	Statement []byte          `json:"statement"`
	Signature []byte          `json:"signature"`
	Command   json.RawMessage `json:"command"` // with who; in base64 it would be too large
}

// signedEnvelope marks a signed command's event.
type signedEnvelope struct {
	Signed *signed `json:"signed"`
}

// sign returns the event of a signed command.
func sign(key ed25519.PrivateKey, s *statement, command []byte) ([]byte, error) {
	command, err := canonical(command)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(command)
	s.Command = sum[:]
	text, err := marshal(s)
	if err != nil {
		return nil, err
	}
	return marshal(signedEnvelope{&signed{text, ed25519.Sign(key, append([]byte(purpose), text...)), command}})
}

// canonical writes JSON in one way, so that what stands between back office and function may write it anew: MiniStack
// adds spaces and escapes, and writes 8.50 as 8.5.
func canonical(b []byte) ([]byte, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return marshal(oneWay(value))
}

// oneWay writes each number of a decoded value in one way. An integer stays as it is.
func oneWay(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = oneWay(v[name])
		}
	case []any:
		for i := range v {
			v[i] = oneWay(v[i])
		}
	case json.Number:
		f, err := v.Float64()
		if err != nil || math.Abs(f) >= 1<<53 || !strings.ContainsAny(v.String(), ".eE") {
			return v
		}
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return value
}

// Verifier checks that the back office of a stack has signed a command for a function.
type Verifier struct {
	Stack    string
	Function string
	Keys     func() []ed25519.PublicKey // one to three
	Clock    seckill.Clock
	// Renew has Keys give the newest ones. It is called when none of them has made a signature; may be nil.
	Renew func()
}

// open returns a signed event's command and the role that gives it.
func (v *Verifier) open(event []byte) (command []byte, role seckill.Role, err error) {
	var e signedEnvelope
	if len(event) > maxSignedEvent {
		return nil, "", errors.New(notSigned + "too large")
	}
	if err := strict(event, &e); err != nil || e.Signed == nil {
		return nil, "", errors.New(notSigned + "no signed command")
	}
	if !v.signed(e.Signed) && (v.Renew == nil || !v.renewed(e.Signed)) {
		return nil, "", errors.New(notSigned + "another key, or changed")
	}
	var s statement
	if err := strict(e.Signed.Statement, &s); err != nil {
		return nil, "", fmt.Errorf(notSigned+"%w", err)
	}
	if command, err = canonical(e.Signed.Command); err != nil {
		return nil, "", fmt.Errorf(notSigned+"%w", err)
	}
	sum := sha256.Sum256(command)
	age := v.Clock.Now().Sub(time.UnixMilli(s.At))
	switch {
	case !bytes.Equal(sum[:], s.Command):
		return nil, "", errors.New(notSigned + "another command")
	case s.Stack != v.Stack || s.Function != v.Function:
		return nil, "", fmt.Errorf(notSigned+"for %s of %s", short(s.Function), short(s.Stack))
	case age > MaxAge || age < -maxAhead:
		return nil, "", fmt.Errorf(notSigned+"%v old", age)
	}
	return command, s.Role, nil
}

// renewed is signed with the newest keys: an instance without events reads none.
func (v *Verifier) renewed(s *signed) bool {
	v.Renew()
	return v.signed(s)
}

// signed reports whether one of the keys signed the statement.
func (v *Verifier) signed(s *signed) bool {
	text := append([]byte(purpose), s.Statement...)
	keys := v.Keys()
	for _, k := range keys[:min(len(keys), maxKeys)] {
		if len(k) == ed25519.PublicKeySize && ed25519.Verify(k, text, s.Signature) {
			return true
		}
	}
	return false
}

// ServeSigned is Serve for commands that the back office has signed. An unsigned, forged, old or misdirected event is
// an error, and nothing is done. The role is checked here, too, so that the table holds even where the back office
// would err.
func ServeSigned(audit *slog.Logger, v *Verifier, handlers ...Handler) func(ctx context.Context,
	event []byte) ([]byte, error) {
	s := newServer(audit, handlers)
	return func(ctx context.Context, event []byte) ([]byte, error) {
		command, role, err := v.open(event)
		if err != nil {
			audit.WarnContext(ctx, "event refused", "err", err)
			return nil, err
		}
		var e envelope[Given]
		if err := json.Unmarshal(command, &e); err != nil || !May(role, e.Operator.Command) {
			err := errors.New(notSigned + "no command of role " + short(string(role)))
			audit.WarnContext(ctx, "event refused", "err", err)
			return nil, err
		}
		return s.serve(ctx, role, command)
	}
}
