package main

const (
	signinGo     = "shared/flow/front/signin/signin.go"
	identitiesGo = "shared/driver/ledger/identities.go"
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
}
