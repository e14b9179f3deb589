package local

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/your-org/seckill/shared/api/oidc"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	staffWho   = "local" // whom a link signs in that names nobody: the machine's owner
	staffStack = "run"
)

// buildStaff makes the back office for browsers. A command goes the way that it goes in a stack: checked, recorded,
// signed, and executed by what verifies the signature. Links follow the machine's clock.
func (s *System) buildStaff(record *operator.Recorder, handlers []operator.Handler) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("the key that signs commands: %w", err)
	}
	var clock system.Clock
	silent := slog.New(slog.DiscardHandler)
	ids := s.drivers.ids
	if with := s.opt.Staff; len(with.Clients) > 0 {
		with.Clock, with.Log = s.Clock, s.opt.Log
		if s.drivers.staff, err = oidc.NewStaff(with); err != nil {
			return fmt.Errorf("the issuer of staff: %w", err)
		}
	}
	s.Staff = app.Staff(&s.drivers, s.Audit)
	viewers, pictures := s.liveHandler(), operator.NewPictureHandler(s.pictures())
	office := &operator.Office{Sessions: s.Staff, Live: viewers, Pictures: pictures, Stack: staffStack,
		Clock: clock, Record: record,
		Key: func() ed25519.PrivateKey { return private },
		Invoke: func(ctx context.Context, function string, event []byte) ([]byte, error) {
			return operator.ServeSigned(silent, &operator.Verifier{Stack: staffStack, Function: function, Clock: clock,
				Keys: func() []ed25519.PublicKey { return []ed25519.PublicKey{public} }}, handlers...)(ctx, event)
		}}
	s.links = &operator.Links{Clock: clock, Random: ids}
	s.staff, err = operator.NewBrowserHandler(operator.BrowserOptions{Sessions: s.Staff, Do: office.Do, Plain: true,
		Links: s.links, Public: s.URL(), SignIn: s.drivers.staff != nil, Tool: "--url " + s.URL(), Clock: clock,
		Random: ids, Log: s.log})
	s.operator = record.Serve(silent, append(handlers, viewers, pictures, operator.NewAuditHandler(s.Audit),
		operator.NewSessionHandler(s.Staff))...)
	return err
}

// pictures returns where pictures of items are.
func (s *System) pictures() seckill.Pictures {
	if s.opt.Covers != "" {
		return memory.PictureFolder(s.opt.Covers)
	}
	return &s.drawn
}

// StaffLink makes a link that signs a browser in to the back office as the machine's owner, once. An earlier link ends.
func (s *System) StaffLink() string { return s.URL() + s.links.New(staffWho) }

// postStaffLink makes a link that signs a browser in to the back office as who, or as the machine's owner.
func (s *System) postStaffLink(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Who   string         `json:"who"`
		Roles []seckill.Role `json:"roles"` // none: every role
	}
	if err := decode(r, &body); err != nil {
		s.refuse(w, r, seckill.Invalid("body", ""))
		return
	}
	who := cmp.Or(body.Who, staffWho)
	if err := operator.CheckName(who); err != nil {
		s.refuse(w, r, err)
		return
	}
	for _, role := range body.Roles {
		if !seckill.ValidRole(role) {
			s.refuse(w, r, seckill.Invalid("roles", "roles"))
			return
		}
	}
	s.reply(w, map[string]any{"link": s.URL() + s.links.New(who, body.Roles...)})
}
