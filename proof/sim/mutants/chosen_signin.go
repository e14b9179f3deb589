package main

const (
	signinGo     = "shared/flow/front/signin/signin.go"
	identitiesGo = "shared/driver/ledger/identities.go"
	issuersGo    = "shared/api/oidc/oidc.go"
	issuerKeysGo = "shared/api/oidc/keys.go"
)

// chosenSignIn change who is signed in as whom, and for how long.
var chosenSignIn = []choice{
	{"sign-in-forgets", "each sign-in gives a person a new user id", signinGo,
		`err == nil {
			return user, nil
		}
		if !errors`, `err == nil {
			id.Subject += "+"
		} else if !errors`},
	{"sign-in-own-number", "a person who enrols twice at once is signed in as the id that was not kept", signinGo,
		`			return user, nil
		}
	}
	return "", err`, `			return fresh, nil
		}
	}
	return "", err`},
	{"token-outlives-proof", "our token lasts an hour, though the issuer's ends sooner", signinGo,
		`	if p.Expires.Before(expires) {`, `	if p.Expires.IsZero() {`},
	{"token-as-long-as-proof", "our token lasts as long as the issuer's, however long", signinGo,
		`	if p.Expires.Before(expires) {`, `	if !p.Expires.IsZero() {`},
	{"token-from-signing", "the hour of our token counts from its signing, not from the check", signinGo,
		`p.Checked.Add(seckill.MaxSession)`, `f.Clock.Now().Add(seckill.MaxSession)`},
	{"identity-overwritten", "a second enrolment replaces the first", identitiesGo,
		`{Key: identityKey(id), Op: OpPut, If: []Cond{Absent()},`, `{Key: identityKey(id), Op: OpPut,`},
	{"number-shared", "two persons may get the same user id", identitiesGo,
		`PK: userPrefix + user}, Op: OpPut, If: []Cond{Absent()},`, `PK: userPrefix + user}, Op: OpPut,`},
	{"taken-is-enrolled", "a person whose number is taken is signed in with it all the same", identitiesGo,
		`		return "", seckill.ErrUserTaken`, `		return user, nil`},
	{"anybodys-session", "a session is every shopper's", "shared/driver/ledger/encode.go",
		`Key{TableLogins, user, id}`, `Key{TableLogins, "any", id}`},
	{"nobody-signs-out", "one session is not ended", signinGo,
		`[]seckill.Session{{ID: id}}`, `[]seckill.Session{{ID: id + "-"}}`},
	{"earlier-session-stays", "a new sign-in leaves the session that its browser had", signinGo,
		`if g.Earlier.Session != "" && g`, `if g.Earlier.Session == "" && g`},
	{"erased-stays-signed-in", "an erasure leaves a user signed in", "shared/flow/office/erase/erase.go",
		`ended, err = f.SignOut(ctx, user)`, `ended, err = f.SignOut(ctx, "0")`},
	{"lists-for-the-signed-out", "lists take the token of an ended session", "shared/api/httpapi/limits.go",
		`err == nil && c.sessions != nil`, `err == nil && r.Method != "GET" && c.sessions != nil`},
	{"ended-is-renewed", "a refresh token renews a session that has ended", signinGo,
		`s.ID, write = g.Session, f.Sessions.RenewSession`, `s.ID = g.Session`},
	{"signed-out-hoards", "the stock is not told of orders of ended sessions", "shared/flow/sale/consume/consume.go",
		`|| o.Reason == seckill.CodeToken {`, `|| o.Reason == seckill.CodeUnavailable {`},
	{"secret-lent", "the client's secret serves whoever holds a refresh token", issuersGo,
		`if secret && g.Kind == seckill.GrantRefresh {`, `if secret && g.Kind == "" {`},
	{"refresh-leaks", "a page gets the refresh token of a client with a secret", issuersGo,
		`	if secret {
		p.Refresh = ""`, `	if secret && err != nil {
		p.Refresh = ""`},
	{"any-key", "a token without kid is checked by the first of several keys", issuerKeysGo,
		`case !only.public.Equal(k.public):`, `case only.public == nil:`},
}
