package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// An identity and its user id have a row each in one table. The first finds the user id; the second makes it unique,
// and finds the identity.
const (
	identityPrefix = "identity:"
	userPrefix     = "user:"
)

// identityKey is a hash, so that an error that names the row does not name a person; issuers may use a phone number.
// The byte that separates issuer and subject is in no URL.
func identityKey(id seckill.Identity) Key {
	sum := sha256.Sum256([]byte(id.Issuer + "\x00" + id.Subject))
	return Key{Table: TableIdentities, PK: identityPrefix + hex.EncodeToString(sum[:])}
}

// UserOf implements seckill.Identities.
func (l *Ledger) UserOf(ctx context.Context, id seckill.Identity) (string, error) {
	return get(ctx, l, "the user of an identity", identityKey(id), seckill.ErrNoUser, decodeUser)
}

// Enrol implements seckill.Identities in two writes. An empty text is a programming error.
func (l *Ledger) Enrol(ctx context.Context, id seckill.Identity, user string, at time.Time) (string, error) {
	if id.Issuer == "" || id.Subject == "" || user == "" {
		return "", fmt.Errorf("ledger: enrol user %q: an empty text", user)
	}
	c, err := l.transact(ctx, "enrol user "+user, []Write{
		{Key: identityKey(id), Op: OpPut, If: []Cond{Absent()},
			Row: Row{"v": Version, "user": user, "at": at.UnixMilli()}},
		{Key: Key{Table: TableIdentities, PK: userPrefix + user}, Op: OpPut, If: []Cond{Absent()},
			Row: Row{"v": Version, "issuer": id.Issuer, "subject": id.Subject, "at": at.UnixMilli()}},
	})
	switch {
	case err != nil:
		return "", err
	case c == nil:
		return user, nil
	case c.failed(0):
		return decodeUser(c.Reasons[0].Old)
	default:
		return "", seckill.ErrUserTaken
	}
}

func decodeUser(row Row) (string, error) {
	d := decode(TableIdentities, row)
	user := d.text("user")
	return user, d.err
}
