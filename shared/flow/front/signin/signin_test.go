package signin_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/front/signin"
	"github.com/your-org/seckill/shared/seckill"
)

const secret = "a-secret-of-tokens"

var (
	now      = time.Date(2026, 11, 11, 2, 0, 0, 250e6, time.UTC)
	errFault = errors.New("no answer")
	person   = seckill.Identity{Issuer: "https://id.example.com", Subject: "13800138000"}
	grant    = seckill.Grant{Kind: seckill.GrantToken, Token: "any"}
)

// stage has the parts of a step, which tests replace.
type stage struct {
	clock  *memory.Clock
	proof  seckill.Proof
	err    error         // of the issuers
	redeem int           // calls of Redeem
	takes  time.Duration // of each call of the ledger
	faults []error       // of the ledger's calls, in order; if nil, the call goes on
	after  bool          // a fault comes after the effect
	ledger seckill.Identities
	seckill.Sessions
	ids     int
	numbers []string // for new shoppers
	signs   error
	counts  map[seckill.Event]int
	mu      sync.Mutex
}

func newStage() *stage {
	clock := memory.NewClock(now)
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	return &stage{clock: clock, ledger: l, Sessions: l,
		proof:   seckill.Proof{Identity: person, Checked: now, Expires: now.Add(24 * time.Hour), Refresh: "next"},
		numbers: []string{"9223372036854775807", "7", "8"}, counts: map[seckill.Event]int{}}
}

func (s *stage) flow() *signin.Flow {
	return signin.New(signin.Deps{Issuers: s, Identities: s, Sessions: s.Sessions, IDs: s,
		Signer: s, Clock: s.clock, Meter: s})
}

func (s *stage) List(context.Context) ([]seckill.Issuer, error) {
	return []seckill.Issuer{{Issuer: person.Issuer}}, s.err
}

func (s *stage) Redeem(context.Context, seckill.Grant) (seckill.Proof, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redeem++
	return s.proof, s.err
}

// call does a call of the ledger, with its fault.
func (s *stage) call(do func() (string, error)) (string, error) {
	s.clock.Advance(s.takes)
	s.mu.Lock()
	var fault error
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	s.mu.Unlock()
	if fault == nil {
		return do()
	}
	if s.after {
		_, _ = do()
	}
	return "", fault
}

func (s *stage) UserOf(ctx context.Context, id seckill.Identity) (string, error) {
	return s.call(func() (string, error) { return s.ledger.UserOf(ctx, id) })
}

func (s *stage) Enrol(ctx context.Context, id seckill.Identity, user string, at time.Time) (string, error) {
	return s.call(func() (string, error) { return s.ledger.Enrol(ctx, id, user, at) })
}

func (s *stage) UserID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.numbers[0]
	s.numbers = s.numbers[1:]
	return next
}

func (s *stage) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%032x", s.ids)
}

func (s *stage) SignToken(c seckill.Claims) (string, error) {
	made := int64(0)
	if !c.Created.IsZero() {
		made = c.Created.Unix()
	}
	return fmt.Sprintf("%s%s of %s until %d, made %d", c.User, c.Name, c.Session, c.Expires.Unix(), made), s.signs
}

func (s *stage) Count(e seckill.Event, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[e] += n
}

// TestLife checks how long the shop's token lives: an hour from the check of the proof, and no longer than the proof.
func TestLife(t *testing.T) {
	second := now.Truncate(time.Second)
	for name, c := range map[string]struct {
		proof time.Duration // from the check to the end of the proof
		takes time.Duration // of the ledger, twice
		want  time.Time     // zero if refused
	}{
		"a proof for a day":                     {24 * time.Hour, 0, second.Add(time.Hour)},
		"for an hour":                           {time.Hour, 0, second.Add(time.Hour)},
		"for five minutes":                      {5 * time.Minute, 0, second.Add(5 * time.Minute)},
		"for 1.5 s":                             {1500 * time.Millisecond, 0, second.Add(time.Second)},
		"for less than a second":                {700 * time.Millisecond, 0, time.Time{}},
		"a slow ledger does not prolong it":     {24 * time.Hour, time.Minute, second.Add(time.Hour)},
		"nor does it give a token that is over": {time.Minute, 30 * time.Second, time.Time{}},
		"but it may leave a second": {time.Minute + 2*time.Second, 30 * time.Second,
			second.Add(62 * time.Second)},
	} {
		s := newStage()
		s.proof.Expires, s.takes = now.Add(c.proof), c.takes
		got, err := s.flow().SignIn(t.Context(), grant)
		if c.want.IsZero() {
			var e *seckill.Error
			if !errors.As(err, &e) || e.Code != seckill.CodeSignIn || e.Token != seckill.TokenExpired ||
				got != (signin.Session{}) {
				t.Errorf("%s: got %+v, %v, want it refused as expired", name, got, err)
			}
			continue
		}
		if want := fmt.Sprintf("9223372036854775807 of %032x until %d, made 0", 1, c.want.Unix()); err != nil ||
			got.Token != want || !got.Expires.Equal(c.want) {
			t.Errorf("%s: got %+v, %v, want %s", name, got, err, want)
		}
	}
}

// TestSession checks what a shopper gets, at first and later.
func TestSession(t *testing.T) {
	s := newStage()
	s.proof.Created, s.proof.Name = now.AddDate(-1, 0, 0), " 李雷"
	for i := range 2 {
		got, err := s.flow().SignIn(t.Context(), grant)
		ends := now.Add(time.Hour).Truncate(time.Second)
		id := fmt.Sprintf("%032x", i+1)
		want := signin.Session{User: "9223372036854775807", ID: id, Expires: ends, Refresh: "next",
			Token: fmt.Sprintf("9223372036854775807 李雷 of %s until %d, made %d", id, ends.Unix(),
				now.AddDate(-1, 0, 0).Unix())}
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	if s.counts[seckill.EventSignedIn] != 2 || s.counts[seckill.EventEnrolled] != 1 || len(s.counts) != 2 {
		t.Errorf("counts %v", s.counts)
	}
	s.proof.Subject = "another"
	must.Equal(t, "7", must.Get(s.flow().SignIn(t.Context(), grant)).User, "another person")
}

// TestSessions: a session is renewed until it is ended or unused for a month, is listed until then, and is its user's.
func TestSessions(t *testing.T) {
	s := newStage()
	f := s.flow()
	first := grant
	first.Device = "Chrome, Android"
	got := must.Get(f.SignIn(t.Context(), first))
	renewal := grant
	renewal.Session, renewal.Device = got.ID, "Chrome, Android"
	s.clock.Advance(time.Hour)
	s.renewProof()
	must.Equal(t, got.ID, must.Get(f.SignIn(t.Context(), renewal)).ID, "renewed")
	other := must.Get(f.SignIn(t.Context(), grant))
	list := must.Get(f.SignedIn(t.Context(), got.User))
	must.Equal(t, []seckill.Session{
		{User: got.User, ID: got.ID, Device: "Chrome, Android", Began: now, Renewed: s.clock.Now()},
		{User: got.User, ID: other.ID, Began: s.clock.Now(), Renewed: s.clock.Now()},
	}, list, "listed")
	ended := func(g seckill.Grant, why string) {
		t.Helper()
		_, err := f.SignIn(t.Context(), g)
		if e := seckill.AsError(err); e.Code != seckill.CodeSignIn || e.Token != seckill.TokenEnded {
			t.Errorf("%s: got %v, want it refused as ended", why, err)
		}
	}
	must.Equal(t, 1, must.Get(f.End(t.Context(), got.User, got.ID)), "ended")
	ended(renewal, "an ended session")
	anothers := grant
	anothers.Session = other.ID
	s.proof.Subject = "another"
	ended(anothers, "another user's session")
	s.proof.Identity = person
	s.clock.Advance(seckill.SessionIdle)
	s.renewProof()
	ended(anothers, "a session that nobody used")
	must.Equal(t, 0, len(must.Get(f.SignedIn(t.Context(), got.User))), "unused ones are not listed")
	code := seckill.Grant{Kind: seckill.GrantCode, Issuer: "i", Code: "c", Nonce: "n", RedirectURI: "r",
		Verifier: strings.Repeat("v", 43), Session: other.ID}
	if again := must.Get(f.SignIn(t.Context(), code)); again.ID == other.ID {
		t.Errorf("a code renewed a session: it begins one, whatever a page says")
	}
}

// TestANewSignInEndsTheEarlier: of this browser, whoever was signed in there; a renewal of it does not, nor one that
// was refused.
func TestANewSignInEndsTheEarlier(t *testing.T) {
	s := newStage()
	f := s.flow()
	first := must.Get(f.SignIn(t.Context(), grant))
	again := grant
	again.Earlier = seckill.Claims{User: first.User, Session: first.ID}
	again.Session = first.ID
	must.Equal(t, first.ID, must.Get(f.SignIn(t.Context(), again)).ID, "renewed")
	must.Get(s.Session(t.Context(), first.User, first.ID))
	again.Session = ""
	s.err = errFault
	if _, err := f.SignIn(t.Context(), again); err == nil {
		t.Error("signed in without a proof")
	}
	must.Get(s.Session(t.Context(), first.User, first.ID))
	s.err = nil
	s.proof.Subject = "another"
	second := must.Get(f.SignIn(t.Context(), again))
	if _, err := s.Session(t.Context(), first.User, first.ID); !errors.Is(err, seckill.ErrNoSession) {
		t.Errorf("the earlier session goes on: %v", err)
	}
	must.Get(s.Session(t.Context(), second.User, second.ID))
}

// renewProof is a proof of now.
func (s *stage) renewProof() {
	s.proof.Checked, s.proof.Expires = s.clock.Now(), s.clock.Now().Add(24*time.Hour)
}

// TestManySessions: a shopper has ten; an eleventh ends the one that was renewed longest ago. All can be ended at once.
func TestManySessions(t *testing.T) {
	s := newStage()
	f := s.flow()
	var ids []string
	for i := range seckill.MaxSessions + 3 {
		s.renewProof()
		g := grant
		if i == seckill.MaxSessions-1 {
			g.Session = ids[0] // so that the second is the oldest
		}
		ids = append(ids, must.Get(f.SignIn(t.Context(), g)).ID)
		s.clock.Advance(time.Minute)
	}
	user := must.Get(f.SignIn(t.Context(), grant)).User
	var left []string
	for _, is := range must.Get(f.SignedIn(t.Context(), user)) {
		left = append(left, is.ID)
	}
	must.Equal(t, seckill.MaxSessions, len(left), "sessions")
	if !slices.Contains(left, ids[0]) || slices.Contains(left, ids[1]) || slices.Contains(left, ids[2]) {
		t.Errorf("left %v of %v, want those that were renewed last", left, ids)
	}
	must.Equal(t, seckill.MaxSessions, must.Get(f.End(t.Context(), user, "")), "ended")
	must.Equal(t, 0, len(must.Get(f.SignedIn(t.Context(), user))), "sessions after that")
}

// flaky fails the first calls of some methods of Sessions.
type flaky struct {
	seckill.Sessions
	reads, writes, lists, ends int    // how many calls fail
	looked                     func() // after Session
}

func fails(n *int) error {
	if *n--; *n >= 0 {
		return errFault
	}
	return nil
}

func (f *flaky) Session(ctx context.Context, user, id string) (seckill.Session, error) {
	if err := fails(&f.reads); err != nil {
		return seckill.Session{}, err
	}
	s, err := f.Sessions.Session(ctx, user, id)
	if f.looked != nil {
		f.looked()
	}
	return s, err
}

func (f *flaky) BeginSession(ctx context.Context, s seckill.Session) error {
	return cmp.Or(fails(&f.writes), f.Sessions.BeginSession(ctx, s))
}

func (f *flaky) RenewSession(ctx context.Context, s seckill.Session) error {
	return cmp.Or(fails(&f.writes), f.Sessions.RenewSession(ctx, s))
}

func (f *flaky) ListSessions(ctx context.Context, user string, limit int) ([]seckill.Session, error) {
	if err := fails(&f.lists); err != nil {
		return nil, err
	}
	return f.Sessions.ListSessions(ctx, user, limit)
}

func (f *flaky) EndSession(ctx context.Context, user, id string) error {
	return cmp.Or(fails(&f.ends), f.Sessions.EndSession(ctx, user, id))
}

// TestASessionEndsWhileItIsRenewed: after the renewal looked and before it writes. It stays ended.
func TestASessionEndsWhileItIsRenewed(t *testing.T) {
	s := newStage()
	f := s.flow()
	got := must.Get(f.SignIn(t.Context(), grant))
	f.Sessions = &flaky{Sessions: s.Sessions, looked: func() {
		must.OK(t, s.EndSession(t.Context(), got.User, got.ID))
	}}
	renewal := grant
	renewal.Session = got.ID
	_, err := f.SignIn(t.Context(), renewal)
	if e := seckill.AsError(err); e.Code != seckill.CodeSignIn || e.Token != seckill.TokenEnded {
		t.Errorf("got %v, want it refused as ended", err)
	}
	if _, err := s.Session(t.Context(), got.User, got.ID); !errors.Is(err, seckill.ErrNoSession) {
		t.Errorf("the session goes on: %v", err)
	}
}

// TestFaultsOfSessions: a sign-in survives two faults; nobody hears that a session has ended that may go on.
func TestFaultsOfSessions(t *testing.T) {
	for name, c := range map[string]struct {
		flaky flaky
		ok    bool
	}{
		"none":                            {ok: true},
		"twice when it is written":        {flaky{writes: 2}, true},
		"three times when it is written":  {flaky{writes: 3}, false},
		"twice when it is read":           {flaky{reads: 2}, true},
		"three times when it is read":     {flaky{reads: 3}, false},
		"when surplus sessions are read":  {flaky{lists: 1}, true},
		"when surplus sessions are ended": {flaky{ends: 9}, true},
	} {
		s := newStage()
		first := must.Get(s.flow().SignIn(t.Context(), grant))
		c.flaky.Sessions = s.Sessions
		s.Sessions = &c.flaky
		g := grant
		g.Session = first.ID
		_, err := s.flow().SignIn(t.Context(), g)
		if c.ok != (err == nil) || err != nil && seckill.CodeOf(err) != seckill.CodeUnavailable {
			t.Errorf("%s: got %v", name, err)
		}
	}
	s := newStage()
	user := must.Get(s.flow().SignIn(t.Context(), grant)).User
	for name, broken := range map[string]flaky{"list": {lists: 1}, "end": {ends: 1}} {
		broken.Sessions = s.Sessions
		f := s.flow()
		f.Sessions = &broken
		if n, err := f.End(t.Context(), user, ""); n != 0 || seckill.CodeOf(err) != seckill.CodeUnavailable {
			t.Errorf("%s: ended %d, %v, want a fault", name, n, err)
		}
	}
	f := s.flow()
	f.Sessions = &flaky{Sessions: s.Sessions, lists: 1, ends: 1}
	if _, err := f.SignedIn(t.Context(), user); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("a list: %v", err)
	}
	if _, err := f.End(t.Context(), user, "a"); seckill.CodeOf(err) != seckill.CodeUnavailable {
		t.Errorf("an end: %v", err)
	}
}

// TestFaultsOfTheLedger checks that a sign-in whose code is spent survives them, and never gives a second user id.
func TestFaultsOfTheLedger(t *testing.T) {
	for name, c := range map[string]struct {
		faults   []error
		after    bool
		want     string // user id; "" if a fault is wanted
		enrolled int
	}{
		"the first read":              {faults: []error{errFault}, want: "9223372036854775807", enrolled: 1},
		"the write, before":           {faults: []error{nil, errFault}, want: "7", enrolled: 1},
		"the write, after its effect": {faults: []error{nil, errFault}, after: true, want: "9223372036854775807"},
		"twice":                       {faults: []error{errFault, errFault}, want: "9223372036854775807", enrolled: 1},
		"three times":                 {faults: []error{errFault, errFault, errFault}},
		"a user id of another's":      {faults: []error{nil, seckill.ErrUserTaken}, want: "7", enrolled: 1},
		"user ids of others'": {faults: []error{nil, seckill.ErrUserTaken, nil, seckill.ErrUserTaken, nil,
			seckill.ErrUserTaken}},
	} {
		s := newStage()
		s.faults, s.after = c.faults, c.after
		got, err := s.flow().SignIn(t.Context(), grant)
		if c.want == "" {
			if e := seckill.AsError(err); e.Code != seckill.CodeUnavailable || e.RetryAfter == 0 {
				t.Errorf("%s: got %+v, %v, want a fault", name, got, err)
			}
			continue
		}
		if err != nil || got.User != c.want || s.counts[seckill.EventEnrolled] != c.enrolled || s.redeem != 1 {
			t.Errorf("%s: got %+v, %v, counts %v, want %s", name, got, err, s.counts, c.want)
		}
		must.Equal(t, c.want, must.Get(s.flow().SignIn(t.Context(), grant)).User, name, "again")
	}
}

// TestTwoSignInsAtOnce checks that one person who signs in on two devices has one user id.
func TestTwoSignInsAtOnce(t *testing.T) {
	s := newStage()
	for i := range 20 {
		s.numbers = append(s.numbers, fmt.Sprint(100+i))
	}
	f := s.flow()
	users := make([]string, 8)
	var all sync.WaitGroup
	for i := range users {
		all.Go(func() {
			p, err := f.SignIn(t.Context(), seckill.Grant{Kind: seckill.GrantToken, Token: "any"})
			if users[i] = p.User; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, user := range users {
		if user != users[0] {
			t.Errorf("user ids %v, want one", users)
		}
	}
	if s.counts[seckill.EventEnrolled] != 1 {
		t.Errorf("counts %v, want one new shopper", s.counts)
	}
}

// TestRefusals checks that refusals pass unchanged, that faults of the issuer are counted as such, and that a request
// of a wrong form reaches no issuer.
func TestRefusals(t *testing.T) {
	stale := &seckill.Error{Code: seckill.CodeSignIn, Token: seckill.TokenStale}
	for name, c := range map[string]struct {
		err    error
		grant  seckill.Grant
		want   seckill.Reason
		faults int
		asked  int
	}{
		"refused":             {stale, grant, seckill.TokenStale, 0, 1},
		"not the shop's":      {seckill.Invalid("issuer", ""), grant, "invalid_request", 0, 1},
		"away":                {errFault, grant, "unavailable", 1, 1},
		"the shop is refused": {&seckill.Error{Code: seckill.CodeSignInBroken}, grant, "signin_broken", 1, 1},
		"of another form":     {nil, seckill.Grant{Kind: "password"}, "invalid_request", 0, 0},
		"without anything":    {nil, seckill.Grant{}, "invalid_request", 0, 0},
		"without its verifier": {nil, seckill.Grant{Kind: seckill.GrantCode, Issuer: "i", Code: "c", Nonce: "n",
			RedirectURI: "r"}, "invalid_request", 0, 0},
	} {
		s := newStage()
		s.err = c.err
		got, err := s.flow().SignIn(t.Context(), c.grant)
		var e *seckill.Error
		if !errors.As(err, &e) || e.Reason() != c.want || got != (signin.Session{}) || s.redeem != c.asked ||
			s.counts[seckill.EventIssuerFault] != c.faults || s.counts[seckill.EventSignedIn] != 0 {
			t.Errorf("%s: got %+v, %v, %d calls, counts %v, want %s", name, got, err, s.redeem, s.counts, c.want)
		}
	}
	s := newStage()
	s.signs = errFault
	if _, err := s.flow().SignIn(t.Context(), grant); seckill.CodeOf(err) != seckill.CodeInternal {
		t.Errorf("a token that cannot be signed: %v, want %s", err, seckill.CodeInternal)
	}
}

// TestReturnPages: an issuer that refuses a redirect address refuses the shop only if that is the shop's; one of
// another website reaches no issuer.
func TestReturnPages(t *testing.T) {
	shop := seckill.ReturnPages{Own: []string{"https://a.example.com/live", "https://shop.example.com"}}
	open := shop
	open.Open = true
	for _, c := range []struct {
		back          string
		pages         seckill.ReturnPages
		asked, faults int
	}{
		{"https://a.example.com/live/", shop, 1, 1},
		{"https://shop.example.com", shop, 1, 1},
		{"https://a.example.com/nowhere", shop, 1, 0},
		{"https://SHOP.example.com:443/cb", shop, 1, 0},
		{"com.example.shop:/signed-in", shop, 1, 0},
		{"no-address", shop, 1, 0},
		{"https://shop.example.net/", shop, 0, 0},
		{"http://shop.example.com/", shop, 0, 0},
		{"https://shop.example.com.example.net/", shop, 0, 0},
		{"https://shop.example.com@example.net/", shop, 0, 0},
		{"https://shop.example.com:8443/", shop, 0, 0},
		{"https://shop.example.com/", open, 1, 1},
		{"https://shop.example.net/", open, 1, 0},
		{"https://shop.example.com/", seckill.ReturnPages{}, 1, 0},
	} {
		s := newStage()
		s.err = &seckill.Error{Code: seckill.CodeSignInBroken}
		f := s.flow()
		f.Pages = c.pages
		g := seckill.Grant{Kind: seckill.GrantCode, Issuer: "i", Code: "c", Nonce: "n", RedirectURI: c.back,
			Verifier: strings.Repeat("v", 43)}
		want := "signin_broken"
		if c.asked == 0 {
			want = "invalid_request"
		}
		_, err := f.SignIn(t.Context(), g)
		if e := seckill.AsError(err); string(e.Code) != want || s.redeem != c.asked ||
			s.counts[seckill.EventIssuerFault] != c.faults {
			t.Errorf("%s, %+v: %v, %d calls, counts %v", c.back, c.pages, err, s.redeem, s.counts)
		}
		s.err = errFault
		if _, _ = f.SignIn(t.Context(), g); s.counts[seckill.EventIssuerFault] != c.faults+c.asked {
			t.Errorf("%s, away: counts %v", c.back, s.counts)
		}
	}
}

func TestList(t *testing.T) {
	s := newStage()
	if got, err := s.flow().List(t.Context()); err != nil || len(got) != 1 || len(s.counts) > 0 {
		t.Errorf("got %+v, %v, counts %v", got, err, s.counts)
	}
	s.err = errFault
	if got, err := s.flow().List(t.Context()); got != nil || seckill.AsError(err).RetryAfter == 0 ||
		seckill.CodeOf(err) != seckill.CodeUnavailable || s.counts[seckill.EventIssuerFault] != 1 {
		t.Errorf("away: got %+v, %v, counts %v", got, err, s.counts)
	}
}

// TestTokenIsTheContracts checks that what the steps buy and shop verify with accepts the token, with each kind of key.
func TestTokenIsTheContracts(t *testing.T) {
	for name, keys := range map[string]jwtauth.Keys{"current": {Current: secret},
		"kids": {ByKid: map[string]string{"2026": "old", "2027": secret}}} {
		s := newStage()
		signer := must.Get(jwtauth.NewSigner(keys))
		v := must.Get(jwtauth.New(keys, s.clock))
		f := s.flow()
		f.Signer = signer
		got := must.Get(f.SignIn(t.Context(), grant))
		must.Equal(t, got.User, must.Get(v.User(got.Token)), name, "the token's user")
		s.clock.Advance(time.Hour)
		if _, err := v.User(got.Token); err == nil {
			t.Errorf("%s: an hour later it is still accepted", name)
		}
	}
}

// TestGrants checks which requests to sign in have the right form.
func TestGrants(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	code := seckill.Grant{Kind: seckill.GrantCode, Issuer: "https://id.example.com", Code: "c", Verifier: long(43),
		Nonce: "n", RedirectURI: "https://shop.example.com/"}
	refresh := seckill.Grant{Kind: seckill.GrantRefresh, Issuer: "https://id.example.com", RefreshToken: "r"}
	for name, c := range map[string]struct {
		of     seckill.Grant
		change func(g *seckill.Grant)
		field  string
	}{
		"code":          {code, func(*seckill.Grant) {}, ""},
		"with a client": {code, func(g *seckill.Grant) { g.ClientID = "app" }, ""},
		"refresh":       {refresh, func(*seckill.Grant) {}, ""},
		"token":         {grant, func(*seckill.Grant) {}, ""},
		"largest": {code, func(g *seckill.Grant) {
			g.Code, g.Verifier = long(seckill.MaxIssuerToken),
				long(128)
		}, ""},
		"no kind":           {code, func(g *seckill.Grant) { g.Kind = "" }, "grant"},
		"another kind":      {code, func(g *seckill.Grant) { g.Kind = "password" }, "grant"},
		"no issuer":         {code, func(g *seckill.Grant) { g.Issuer = "" }, "issuer"},
		"long issuer":       {code, func(g *seckill.Grant) { g.Issuer = long(513) }, "issuer"},
		"issuer of letters": {refresh, func(g *seckill.Grant) { g.Issuer = "https://例子.cn" }, "issuer"},
		"long client":       {refresh, func(g *seckill.Grant) { g.ClientID = long(257) }, "client_id"},
		"no code":           {code, func(g *seckill.Grant) { g.Code = "" }, "code"},
		"long code":         {code, func(g *seckill.Grant) { g.Code = long(seckill.MaxIssuerToken + 1) }, "code"},
		"code with a blank": {code, func(g *seckill.Grant) { g.Code = "a b" }, "code"},
		"short verifier":    {code, func(g *seckill.Grant) { g.Verifier = long(42) }, "code_verifier"},
		"long verifier":     {code, func(g *seckill.Grant) { g.Verifier = long(129) }, "code_verifier"},
		"verifier with a +": {code, func(g *seckill.Grant) { g.Verifier = long(42) + "+" }, "code_verifier"},
		"no nonce":          {code, func(g *seckill.Grant) { g.Nonce = "" }, "nonce"},
		"long nonce":        {code, func(g *seckill.Grant) { g.Nonce = long(257) }, "nonce"},
		"no address":        {code, func(g *seckill.Grant) { g.RedirectURI = "" }, "redirect_uri"},
		"long address":      {code, func(g *seckill.Grant) { g.RedirectURI = long(2049) }, "redirect_uri"},
		"no refresh token":  {refresh, func(g *seckill.Grant) { g.RefreshToken = "" }, "refresh_token"},
		"long refresh token": {refresh, func(g *seckill.Grant) { g.RefreshToken = long(seckill.MaxIssuerToken + 1) },
			"refresh_token"},
		"no token":   {grant, func(g *seckill.Grant) { g.Token = "" }, "token"},
		"long token": {grant, func(g *seckill.Grant) { g.Token = long(seckill.MaxIssuerToken + 1) }, "token"},
	} {
		g := c.of
		c.change(&g)
		field := ""
		if err := g.Check(); err != nil {
			field = seckill.AsError(err).Field
		}
		if field != c.field {
			t.Errorf("%s: wrong is %q, want %q", name, field, c.field)
		}
	}
}
