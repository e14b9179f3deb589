package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/office/auditlog"
	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

var (
	ctx     = context.Background()
	start   = time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	errAway = errors.New("issuer is away")
	refused = &seckill.Error{Code: seckill.CodeSignIn, Token: seckill.TokenGrant}

	ada = seckill.StaffMember{Who: "id.example.com/ada", Name: "ada@example.com",
		Roles: []seckill.Role{seckill.RoleOperator, seckill.RoleFinance}, Refresh: "refresh-1"}
)

// issuer answers each question with the next of its answers, and refuses a refresh token that was spent.
type issuer struct {
	member seckill.StaffMember
	err    error
	valid  string // the refresh token
	asked  int
	during func() // while it is asked
}

func (i *issuer) Authorization(context.Context, seckill.Grant, string, bool) (string, error) {
	return "to", i.err
}

func (i *issuer) RedeemStaff(_ context.Context, g seckill.Grant) (seckill.StaffMember, error) {
	i.asked++
	if i.during != nil {
		i.during()
	}
	if i.err != nil {
		return seckill.StaffMember{}, i.err
	}
	if g.Kind == seckill.GrantRefresh && g.RefreshToken != i.valid {
		return seckill.StaffMember{}, refused
	}
	i.valid = fmt.Sprint("refresh-", i.asked)
	m := i.member
	m.Refresh = i.valid
	return m, nil
}

// office is a flow over an embedded ledger.
type office struct {
	*testing.T
	*session.Flow
	clock  *memory.Clock
	rows   *memory.Rows
	issuer *issuer
	log    seckill.AuditLog
}

func newOffice(t *testing.T) *office {
	t.Parallel()
	o := &office{T: t, clock: memory.NewClock(start), issuer: &issuer{member: ada}}
	o.rows = memory.NewRows(memory.RowsOptions{Clock: o.clock})
	l := ledger.New(o.rows)
	o.log = l
	o.Flow = session.New(session.Deps{Sessions: l, Issuer: o.issuer, Random: system.NewIDs(nil), Clock: o.clock,
		Meter: memory.Meter(nil), Audit: auditlog.New(auditlog.Deps{Log: l, Clock: o.clock, IDs: system.NewIDs(nil),
			Meter: memory.Meter(nil)})})
	return o
}

// signIn returns the cookie of a new session.
func (o *office) signIn() string {
	o.Helper()
	return must.Get(o.SignIn(ctx, seckill.Grant{Code: "c"}))
}

// roles has a session confirmed if that is due, and returns its roles; "ended" for none.
func (o *office) roles(cookie string) string {
	o.Helper()
	s, err := o.Resume(ctx, cookie)
	if errors.Is(err, session.ErrEnded) {
		return "ended"
	}
	must.OK(o, err)
	return session.RoleNames(s.Roles)
}

func (o *office) want(what, got, want string) {
	o.Helper()
	if got != want {
		o.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// TestARoleEndsWithinFiveMinutes: the issuer is asked once in five minutes, and its answer counts at once.
func TestARoleEndsWithinFiveMinutes(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	o.want("signed in", o.roles(cookie), "operator,finance")
	o.issuer.member.Roles = []seckill.Role{seckill.RoleViewer}
	o.clock.Advance(seckill.StaffFresh - time.Millisecond)
	o.want("before", o.roles(cookie), "operator,finance")
	o.clock.Advance(time.Millisecond)
	o.want("after five minutes", o.roles(cookie), "viewer")
	o.want("again", o.roles(cookie), "viewer")
	if o.issuer.asked != 2 {
		t.Errorf("asked %d times, want 2: the sign-in and one confirmation", o.issuer.asked)
	}
	o.issuer.member.Roles = nil
	o.clock.Advance(seckill.StaffFresh)
	o.want("without a role", o.roles(cookie), "ended")
	o.want("once more", o.roles(cookie), "ended")
}

// TestTheIssuerEndsIt: a refusal, or another person, ends the session for good.
func TestTheIssuerEndsIt(t *testing.T) {
	for name, change := range map[string]func(*issuer){
		"refused":        func(i *issuer) { i.valid = "spent elsewhere" },
		"another person": func(i *issuer) { i.member.Who = "id.example.com/bob" },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			cookie := o.signIn()
			change(o.issuer)
			o.clock.Advance(seckill.StaffFresh)
			o.want("asked", o.roles(cookie), "ended")
			o.issuer.member = ada
			o.want("later", o.roles(cookie), "ended")
		})
	}
}

// TestAnIssuerThatSaysNothing: it takes the refresh token without an ID token, as OpenID Connect allows. That confirms
// the session, with the roles of the sign-in, for an hour; a refusal ends it at once.
func TestAnIssuerThatSaysNothing(t *testing.T) {
	for name, until := range map[string]time.Duration{"refused": 2 * seckill.StaffFresh, "silent": seckill.StaffTold} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			cookie := o.signIn()
			o.issuer.member = seckill.StaffMember{Silent: true}
			for at := seckill.StaffFresh; at < until; at += seckill.StaffFresh {
				o.clock.Advance(seckill.StaffFresh)
				s := must.Get(o.Resume(ctx, cookie))
				if o.Stale(&s) || !s.Confirmed.Equal(o.clock.Now()) || s.Name != ada.Name || s.Who != ada.Who ||
					session.RoleNames(s.Roles) != "operator,finance" {
					t.Errorf("after %v: %+v", at, s)
				}
			}
			if name == "refused" {
				o.issuer.valid = "spent elsewhere"
			}
			o.clock.Advance(seckill.StaffFresh)
			o.want("at the end", o.roles(cookie), "ended")
		})
	}
}

// TestTheIssuerIsAway: the session goes on, changes nothing after 15 minutes, and ends after 30. The issuer is asked
// each half minute at most. Once it is back, everything is as before.
func TestTheIssuerIsAway(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	o.issuer.err = errAway
	stale := func() bool {
		s := must.Get(o.Resume(ctx, cookie))
		return o.Stale(&s)
	}
	o.clock.Advance(seckill.StaffFresh)
	for range 3 {
		o.want("away", o.roles(cookie), "operator,finance")
	}
	if o.issuer.asked != 2 {
		t.Errorf("asked %d times in one moment, want once more than the sign-in", o.issuer.asked)
	}
	o.clock.Advance(seckill.StaffStale - seckill.StaffFresh - time.Millisecond)
	if stale() {
		t.Error("stale before 15 minutes")
	}
	o.clock.Advance(time.Millisecond)
	if !stale() {
		t.Error("not stale after 15 minutes")
	}
	o.clock.Advance(seckill.StaffAgain)
	o.issuer.err = nil
	if stale() {
		t.Error("stale though the issuer is back")
	}
	o.issuer.err = errAway
	o.clock.Advance(seckill.StaffIdle)
	o.want("after half an hour", o.roles(cookie), "ended")
}

// TestItsEnds: after half an hour without a request, after ten hours whatever happens, and after 15 minutes where the
// issuer gives no refresh token. What nobody confirms is renewed by requests.
func TestItsEnds(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	linked := must.Get(o.Begin(ctx, seckill.StaffMember{Who: "local", Roles: seckill.Roles()}))
	for range seckill.StaffLife/(20*time.Minute) - 1 {
		o.clock.Advance(20 * time.Minute)
		o.want("in use", o.roles(cookie), "operator,finance")
		o.want("of a link", o.roles(linked), session.RoleNames(seckill.Roles()))
	}
	o.clock.Advance(20 * time.Minute)
	o.want("after ten hours", o.roles(cookie)+" "+o.roles(linked), "ended ended")
	cookie = o.signIn()
	o.clock.Advance(seckill.StaffIdle)
	o.want("unused", o.roles(cookie), "ended")
	o.Issuer = noRefresh{o.issuer}
	cookie = o.signIn()
	o.clock.Advance(seckill.StaffStale - time.Millisecond)
	o.want("without a refresh token", o.roles(cookie), "operator,finance")
	o.clock.Advance(time.Millisecond)
	o.want("without a refresh token, later", o.roles(cookie), "ended")
}

type noRefresh struct{ *issuer }

func (i noRefresh) RedeemStaff(ctx context.Context, g seckill.Grant) (seckill.StaffMember, error) {
	m, err := i.issuer.RedeemStaff(ctx, g)
	m.Refresh = ""
	return m, err
}

// TestOneRequestAsks: of requests at once one asks the issuer, because a refresh token may be good once only; whatever
// the issuer answers, an end meanwhile holds.
func TestOneRequestAsks(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	o.clock.Advance(seckill.StaffFresh)
	o.issuer.during = func() {
		o.issuer.during = nil
		o.want("meanwhile", o.roles(cookie), "operator,finance")
	}
	o.want("confirmed", o.roles(cookie), "operator,finance")
	if o.issuer.asked != 2 {
		t.Errorf("asked %d times, want 2", o.issuer.asked)
	}
	o.clock.Advance(seckill.StaffFresh)
	o.issuer.during = func() {
		n := must.Get(o.EndAll(ctx, ada.Who))
		must.Equal(t, 1, n, "ended")
	}
	o.want("ended meanwhile", o.roles(cookie), "ended")
	o.want("and gone", o.roles(cookie), "ended")
}

// TestFiveAtMost: a sixth sign-in ends the oldest session, of this person only.
func TestFiveAtMost(t *testing.T) {
	o := newOffice(t)
	var cookies []string
	other := must.Get(o.Begin(ctx, seckill.StaffMember{Who: "local", Roles: seckill.Roles()}))
	for range seckill.MaxStaffSessions + 2 {
		cookies = append(cookies, o.signIn())
		o.clock.Advance(time.Second)
	}
	var got []string
	for _, c := range cookies {
		got = append(got, o.roles(c))
	}
	want := append([]string{"ended", "ended"}, slices.Repeat([]string{"operator,finance"}, 5)...)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	list, err := o.List(ctx)
	if err != nil || len(list) != 6 || list[5].Who != "local" || o.roles(other) == "ended" {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	must.OK(o, o.End(ctx, cookies[6]))
	must.OK(o, o.End(ctx, cookies[6]))
	o.want("signed out", o.roles(cookies[6]), "ended")
	n, err := o.EndAll(ctx, ada.Who)
	if err != nil || n != 4 || o.roles(cookies[5]) != "ended" || o.roles(other) == "ended" {
		t.Errorf("ended %d, %v", n, err)
	}
}

// TestTheTableOpensNothing: neither cookie nor refresh token is in the table, and another cookie opens no session.
func TestTheTableOpensNothing(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	rows := o.rows.Dump(ledger.TableSessions)
	text := fmt.Sprint(rows)
	key := rows[0]["session"].(string)
	if len(rows) != 1 || strings.Contains(text, cookie) || strings.Contains(text, "refresh-") || len(key) != 64 {
		t.Errorf("rows %s", text)
	}
	for _, forged := range []string{"", key, key[:43], cookie + "A", cookie[:42], strings.ToLower(cookie),
		strings.Repeat("A", 43), strings.Repeat("A", 1<<20)} {
		if forged != cookie && o.roles(forged) != "ended" {
			t.Errorf("%.50q is somebody", forged)
		}
	}
	// Who moves one session's secret to another row gets nothing from it.
	other := o.signIn()
	for _, row := range o.rows.Dump(ledger.TableSessions) {
		if row["session"] != key {
			must.OK(o, o.rows.Transact(ctx, []ledger.Write{{Key: ledger.Key{Table: ledger.TableSessions, PK: "staff",
				SK: row["session"].(string)}, Op: ledger.OpUpdate, Set: ledger.Row{"refresh": rows[0]["refresh"]}}}))
		}
	}
	o.clock.Advance(seckill.StaffFresh)
	if s, err := o.Resume(ctx, other); seckill.CodeOf(err) != seckill.CodeInternal || o.issuer.asked != 2 {
		t.Errorf("another's refresh token: %+v, %v, asked %d times", s, err, o.issuer.asked)
	}
}

// TestSignInsAreRecorded: who signed in and out, and who was not let in. Without a record nobody signs in.
func TestSignInsAreRecorded(t *testing.T) {
	o := newOffice(t)
	cookie := o.signIn()
	must.OK(o, o.End(ctx, cookie))
	o.issuer.member.Roles = nil
	none := (*session.NoRoleError)(nil)
	if _, err := o.SignIn(ctx, seckill.Grant{Code: "c"}); !errors.As(err, &none) || none.Who != ada.Who {
		t.Errorf("without a role: %v", err)
	}
	must.OK(o, o.Refused(ctx, none.Who, "no_role"))
	must.OK(o, o.Refused(ctx, "", "signin_refused"))
	o.issuer.err = errAway
	if _, err := o.SignIn(ctx, seckill.Grant{Code: "c"}); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("away: %v", err)
	}
	log := must.Get(o.log.AuditOn(ctx, seckill.Day(start), "", 9))
	var got []string
	for _, e := range log {
		got = append(got, strings.TrimSpace(fmt.Sprint(e.Who, " ", e.Roles, " ", e.Act, " ", e.Result)))
	}
	want := []string{"id.example.com/ada operator,finance sign-in changed",
		"id.example.com/ada operator,finance sign-out changed", "id.example.com/ada  sign-in no_role",
		"unknown  sign-in signin_refused"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	o.Audit = auditlog.New(auditlog.Deps{Log: noLog{}, Clock: o.clock, IDs: system.NewIDs(nil)})
	o.issuer.err, o.issuer.member = nil, ada
	if cookie, err := o.SignIn(ctx, seckill.Grant{Code: "c"}); err == nil || cookie != "" {
		t.Errorf("unrecorded: %q, %v", cookie, err)
	}
	must.Equal(t, 0, len(must.Get(o.List(ctx))), "sessions")
	o.Issuer = nil
	if _, err := o.SignIn(ctx, seckill.Grant{Code: "c"}); seckill.CodeOf(err) != seckill.CodeNotFound {
		t.Errorf("without an issuer: %v", err)
	}
}

type noLog struct{ seckill.AuditLog }

func (noLog) AppendAudit(context.Context, seckill.AuditEntry) error { return errAway }

// TestOld: a confirmation by refresh token shows nobody who the person is; nobody proves whom a link signs in.
func TestOld(t *testing.T) {
	o := newOffice(t)
	old := func(cookie string) bool {
		s := must.Get(o.Resume(ctx, cookie))
		return o.Old(&s)
	}
	if linked := must.Get(o.Begin(ctx, seckill.StaffMember{Who: "local", Roles: seckill.Roles()})); old(linked) {
		t.Error("a link's session is old")
	}
	if !old(o.signIn()) {
		t.Error("a session is fresh though the issuer does not say when the person signed in")
	}
	o.issuer.member.Proof = start
	cookie := o.signIn()
	for at := time.Duration(0); at <= seckill.StaffProof; at += seckill.StaffFresh {
		o.issuer.member.Proof = o.clock.Now()
		if got, want := old(cookie), at >= seckill.StaffProof; got != want {
			t.Errorf("after %v: old %v, want %v", at, got, want)
		}
		o.clock.Advance(seckill.StaffFresh)
	}
}
