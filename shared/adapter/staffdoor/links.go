package staffdoor

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/flow/session"
	"github.com/your-org/seckill/shared/seckill"
)

// LinkLife is how long a link that nobody used lasts.
const LinkLife = 15 * time.Minute

const linkBytes = 16

// Links makes one-time links for whoever owns the machine that the back office runs on. It is safe for concurrent use.
type Links struct {
	Who    string // whom a link signs in, with every role
	Clock  seckill.Clock
	Random session.Random

	mu   sync.Mutex
	hash [sha256.Size]byte
	ends time.Time // zero: none
}

// New makes a link's path. An earlier one ends.
func (l *Links) New() (path string) {
	key := base64.RawURLEncoding.EncodeToString(l.Random.Bytes(linkBytes))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hash, l.ends = sha256.Sum256([]byte(key)), l.Clock.Now().Add(LinkLife)
	return "/admin/link?key=" + key
}

// take reports whether a key is that of the link, and ends the link if so.
func (l *Links) take(key string) bool {
	hash := sha256.Sum256([]byte(key))
	l.mu.Lock()
	defer l.mu.Unlock()
	if subtle.ConstantTimeCompare(hash[:], l.hash[:]) != 1 || !l.Clock.Now().Before(l.ends) {
		return false
	}
	l.ends = time.Time{}
	return true
}
