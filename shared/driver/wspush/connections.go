package wspush

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// TableConnections is the table's name without the prefix.
const TableConnections = "connections"

// Table declares the table. Its rows, by owner and place:
//
//	user/ID        1 or 2  connection: whose place it is; since: when that was opened, in ms; expires: 3 h later
//	connection/ID  0       user: who has the place; expires, the same
//	pass/NONCE     0       expires: a day after the used pass would have
var Table = ledger.Table{Name: TableConnections, PK: "owner", SK: "place", TTL: attrExpires}

const (
	attrExpires    = "expires"    // Unix seconds
	attrConnection = "connection" // of a place: the connection that has it
	attrSince      = "since"      // ms
	attrUser       = "user"       // of a connection: the user whose place it has

	onlyPlace = "0" // of rows that are alone in their partition
	tries     = 3   // how often a transaction is tried that loses to another transaction for the same shopper

	passSlack       = 24 * time.Hour // clocks differ less: a used pass is known for longer than it is good anywhere
	connectionSlack = time.Hour      // Connect is called before a connection opens
)

// Store is seckill.Connections on rows: one conditional transaction of a few rows, or one read. It is safe for
// concurrent use and caches nothing. Its table lives as long as connections do: it is not part of the ledger, and
// losing it loses only pushes.
//
// A shopper has as many places as connections are allowed, and a connection takes one of them. A row of its own says
// which one, because the end of a connection names only its id. A third kind of row says that a pass was used.
type Store struct {
	rows  ledger.Rows
	clock seckill.Clock
}

var _ seckill.Connections = (*Store)(nil)

// NewConnections returns a store; rows must have Table.
func NewConnections(rows ledger.Rows, clock seckill.Clock) *Store { return &Store{rows, clock} }

func passRow(nonce string) ledger.Key    { return key("pass/"+nonce, onlyPlace) }
func connectionRow(id string) ledger.Key { return key("connection/"+id, onlyPlace) }
func placeRow(user string, n int) ledger.Key {
	return key(userPartition(user), strconv.Itoa(n))
}
func userPartition(user string) string { return "user/" + user }
func key(owner, place string) ledger.Key {
	return ledger.Key{Table: TableConnections, PK: owner, SK: place}
}

// Open implements seckill.Connections. The pass's row comes first, because its refusal is final.
func (s *Store) Open(ctx context.Context, p seckill.Pass, c seckill.Connection) (replaced string, err error) {
	for n := 1; ; n++ {
		writes, old, err := s.opening(ctx, p, c)
		if err != nil {
			return "", err
		}
		err = s.rows.Transact(ctx, writes)
		var canceled *ledger.Canceled
		switch {
		case err == nil:
			return old, nil
		case errors.As(err, &canceled) && canceled.Reasons[0].Code == ledger.ReasonCondition:
			return "", seckill.ErrPass
		case canceled == nil || n == tries:
			return "", fmt.Errorf("connections: open, try %d: %w", n, err)
		}
	}
}

// opening returns the writes that open a connection, by what is read now, and the connection that they replace. Each
// write holds only while its row is as it was read.
func (s *Store) opening(ctx context.Context, p seckill.Pass, c seckill.Connection) ([]ledger.Write, string, error) {
	all, err := s.places(ctx, c.User)
	if err != nil {
		return nil, "", err
	}
	to := s.choose(all)
	expires := c.Since.Add(seckill.ConnectionLife + connectionSlack).Unix()
	place := ledger.Row{attrConnection: c.ID, attrSince: c.Since.UnixMilli(), attrExpires: expires}
	writes := []ledger.Write{
		put(passRow(p.Nonce), ledger.Row{attrExpires: p.Expires.Add(passSlack).Unix()}, ledger.Absent()),
		put(placeRow(c.User, to+1), place, all[to].asRead()),
		put(connectionRow(c.ID), ledger.Row{attrUser: c.User, attrExpires: expires}),
	}
	if !all[to].taken {
		return writes, "", nil
	}
	if all[to].id != c.ID {
		writes = append(writes, ledger.Write{Key: connectionRow(all[to].id), Op: ledger.OpDelete})
	}
	if !s.live(all[to]) {
		return writes, "", nil
	}
	return writes, all[to].id, nil
}

func put(k ledger.Key, row ledger.Row, conds ...ledger.Cond) ledger.Write {
	return ledger.Write{Key: k, Op: ledger.OpPut, Row: row, If: conds}
}

// place is one of a shopper's places.
type place struct {
	taken          bool // a row is there
	id             string
	since, expires int64
}

func (p place) asRead() ledger.Cond {
	if !p.taken {
		return ledger.Absent()
	}
	return ledger.Eq(attrConnection, p.id)
}

// live reports whether a place has a connection that may be open: DynamoDB deletes expired rows when it has time.
func (s *Store) live(p place) bool { return p.taken && s.clock.Now().Unix() < p.expires }

// choose returns the place that a new connection takes: a free place, else the place of the oldest connection.
func (s *Store) choose(all [seckill.MaxConnections]place) int {
	oldest := 0
	for i, p := range all {
		if !s.live(p) {
			return i
		}
		if p.since < all[oldest].since {
			oldest = i
		}
	}
	return oldest
}

// places reads a shopper's places.
func (s *Store) places(ctx context.Context, user string) (all [seckill.MaxConnections]place, err error) {
	rows, err := s.rows.Query(ctx, TableConnections, userPartition(user), "", len(all))
	if err != nil {
		return all, fmt.Errorf("connections: %w", err)
	}
	for _, row := range rows {
		sk, _ := row[Table.SK].(string)
		n, err := strconv.Atoi(sk)
		id, isText := row[attrConnection].(string)
		since, isTime := row[attrSince].(int64)
		expires, ends := row[attrExpires].(int64)
		if err != nil || n < 1 || n > len(all) || !isText || !isTime || !ends {
			return all, fmt.Errorf("connections: place %.10q has no connection that can be read", sk)
		}
		all[n-1] = place{true, id, since, expires}
	}
	return all, nil
}

// Of implements seckill.Connections with one read.
func (s *Store) Of(ctx context.Context, user string) ([]string, error) {
	all, err := s.places(ctx, user)
	var ids []string
	for _, p := range all {
		if s.live(p) {
			ids = append(ids, p.id)
		}
	}
	return ids, err
}

// Forget implements seckill.Connections. A connection whose place another connection has taken is forgotten already.
func (s *Store) Forget(ctx context.Context, id string) error {
	for n := 1; ; n++ {
		writes, err := s.forgetting(ctx, id)
		if err != nil || writes == nil {
			return err
		}
		err = s.rows.Transact(ctx, writes)
		switch {
		case err == nil:
			return nil
		case n == tries || !errors.As(err, new(*ledger.Canceled)):
			return fmt.Errorf("connections: forget, try %d: %w", n, err)
		}
	}
}

func (s *Store) forgetting(ctx context.Context, id string) ([]ledger.Write, error) {
	row, found, err := s.rows.Get(ctx, connectionRow(id))
	if err != nil || !found {
		return nil, err
	}
	user, _ := row[attrUser].(string)
	all, err := s.places(ctx, user)
	if err != nil {
		return nil, err
	}
	writes := []ledger.Write{{Key: connectionRow(id), Op: ledger.OpDelete}}
	for i, p := range all {
		if p.taken && p.id == id {
			writes = append(writes, ledger.Write{Key: placeRow(user, i+1), Op: ledger.OpDelete,
				If: []ledger.Cond{p.asRead()}})
		}
	}
	return writes, nil
}
