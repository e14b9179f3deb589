package operator

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/office/session"
	"github.com/your-org/seckill/shared/seckill"
)

// LinkLife is how long a link that nobody used lasts.
const LinkLife = 15 * time.Minute

// MaxLinks is how many people have a link at a time.
const MaxLinks = 100

const linkBytes = 16

// Links makes one-time links for whoever owns the machine that the back office runs on: each signs in one person, with
// every role. It is safe for concurrent use.
type Links struct {
	Clock  seckill.Clock
	Random session.Random

	mu   sync.Mutex
	made []link // the oldest first, one link per person
}

type link struct {
	seckill.StaffMember
	hash [sha256.Size]byte
	ends time.Time
}

// New makes the path of a link that signs in who with these roles, or with every role if none is given. It ends an
// earlier link of the same person and, if MaxLinks people have a link, the oldest link.
func (l *Links) New(who string, roles ...seckill.Role) (path string) {
	key := base64.RawURLEncoding.EncodeToString(l.Random.Bytes(linkBytes))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = slices.DeleteFunc(l.made, func(m link) bool { return m.Who == who })
	if len(roles) == 0 {
		roles = seckill.Roles()
	}
	l.made = append(l.made, link{seckill.StaffMember{Who: who, Roles: roles}, sha256.Sum256([]byte(key)),
		l.Clock.Now().Add(LinkLife)})
	l.made = l.made[max(0, len(l.made)-MaxLinks):]
	return "/admin/link?key=" + key
}

// take returns the person whom a link's key signs in, and ends the link. It returns nobody if the key is of no link.
func (l *Links) take(key string) (who seckill.StaffMember) {
	hash, now := sha256.Sum256([]byte(key)), l.Clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = slices.DeleteFunc(l.made, func(m link) bool {
		its := subtle.ConstantTimeCompare(hash[:], m.hash[:]) == 1
		if its && now.Before(m.ends) {
			who = m.StaffMember
		}
		return its
	})
	return who
}
