package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	dumpLimit  = 10 * time.Minute // of one dump; a million units take a few seconds
	dumpBuffer = 256 << 10        // bytes
	scanFields = "1000"           // COUNT of HSCAN
)

// getDump streams all rows, keys and trades of an item as lines of package dump, addresses included.
func (s *System) getDump(w http.ResponseWriter, r *http.Request) {
	it, err := s.Items.Get(r.Context(), r.URL.Query().Get("item"))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), dumpLimit)
	defer cancel()
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(dumpLimit)); err != nil {
		s.log.Warn("a long dump will be cut off", "err", err)
	}
	out := bufio.NewWriterSize(w, dumpBuffer)
	var line []byte
	err = s.Dump(ctx, &it, func(l *record.Line) error {
		line = l.Append(line[:0])
		_, err := out.Write(line)
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		s.log.Warn("dump broken off", "item", it.ID, "err", err)
		panic(http.ErrAbortHandler) // so that the reader sees that it is incomplete
	}
}

// Dump calls each with all rows, keys, trades and queue depths of an item.
func (s *System) Dump(ctx context.Context, it *seckill.Item, each func(*record.Line) error) error {
	for _, part := range []func(context.Context, *seckill.Item, func(*record.Line) error) error{
		s.dumpItem, s.dumpTrades, s.dumpRows, s.dumpKeys, s.dumpQueues} {
		if err := part(ctx, it, each); err != nil {
			return err
		}
	}
	return nil
}

func (s *System) dumpItem(ctx context.Context, it *seckill.Item, each func(*record.Line) error) error {
	if err := each(&record.Line{Now: s.Clock.Now().UnixMilli()}); err != nil {
		return err
	}
	if s.Rows == nil {
		return audit.ReadItem(ctx, s.tables, s.opt.Servers.prefix(), it.ID, each)
	}
	stopped := int64(0)
	if it.Stopped {
		stopped = 1
	}
	row := ledger.Row{"v": int64(1), "id": it.ID,
		"title": it.Commodity.Title, "sk_price": int64(it.Price), "price": int64(it.Commodity.Price),
		"start": it.Start.UnixMilli(), "end": it.End.UnixMilli(), "stock": int64(it.Stock), "limit": int64(it.Limit),
		"buckets": int64(it.Buckets),
		"version": it.Version, "stopped": stopped, "stops": dynamoledger.EncodeStops(it.Stops)}
	if it.Checks != seckill.ChecksOff {
		row["checks"] = string(it.Checks)
	}
	if it.Cover != "" {
		row["cover"] = it.Cover
	}
	if v := &it.Variant; v.Family != "" {
		row["family"], row["options"] = v.Family, v.Options.String()
		if v.LimitSpans {
			row["limit_spans"] = int64(1)
		}
	}
	return each(&record.Line{Table: record.PartItems, Row: row})
}

// dumpTrades dumps the gateway's trades as fakegateway.TableStore writes them: their table, or those in memory with the
// fields that an audit needs. The gateway's memory does not tell which notifications are due: while there are any, all
// paid trades are marked.
func (s *System) dumpTrades(ctx context.Context, _ *seckill.Item, each func(*record.Line) error) error {
	if s.trades != nil {
		return audit.ReadTable(ctx, s.tables, s.opt.Servers.prefix(), fakegateway.TableTrades, each)
	}
	_, coming := s.Gateway.Next()
	trades := s.Gateway.Trades()
	of := map[string]int{}
	for i := range trades {
		t := &trades[i]
		of[t.OutTradeNo]++
		row := fakegateway.TradeRow(t)
		row[fakegateway.Table.PK] = fakegateway.RowName(fakegateway.Key{OutTradeNo: t.OutTradeNo, N: of[t.OutTradeNo]})
		if coming && !t.Paid.IsZero() {
			row["notify_state"] = fakegateway.NotificationDue
		}
		if err := each(&record.Line{Table: fakegateway.TableTrades, Row: row}); err != nil {
			return err
		}
	}
	return each(&record.Line{End: fakegateway.TableTrades, Count: len(trades)})
}

func (s *System) dumpRows(ctx context.Context, _ *seckill.Item, each func(*record.Line) error) error {
	for _, table := range record.Tables {
		if s.Rows == nil {
			if err := audit.ReadTable(ctx, s.tables, s.opt.Servers.prefix(), table, each); err != nil {
				return err
			}
			continue
		}
		rows := s.Rows.Dump(table)
		for i, row := range rows {
			if err := each(&record.Line{Table: table, Row: row}); err != nil {
				return err
			}
			rows[i] = nil // frees memory
		}
		if err := each(&record.Line{End: table, Count: len(rows)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *System) dumpKeys(ctx context.Context, it *seckill.Item, each func(*record.Line) error) error {
	if s.Redis == nil {
		o := s.opt.Servers
		opt := &redis.UniversalOptions{Addrs: o.Redis, Password: o.RedisPassword, IsClusterMode: o.RedisCluster}
		client := redis.NewUniversalClient(opt)
		return errors.Join(audit.ReadKeys(ctx, client, it.ID, each), client.Close())
	}
	count := 0
	for _, key := range audit.Keys(it.ID) {
		n, err := s.dumpKey(key, each)
		if err != nil {
			return err
		}
		count += n
	}
	return each(&record.Line{End: record.PartRedis, Count: count})
}

// dumpKey dumps a hash or a sorted set of the embedded Redis, and returns the number of its members.
func (s *System) dumpKey(key string, each func(*record.Line) error) (int, error) {
	kind, err := s.Redis.Do("TYPE", key)
	if err != nil || kind == "none" {
		return 0, err
	}
	if kind == "zset" {
		return s.dumpSorted(key, each)
	}
	count := 0
	for cursor := "0"; ; {
		answer, err := s.Redis.Do("HSCAN", key, cursor, "COUNT", scanFields)
		if err != nil {
			return count, err
		}
		page, _ := answer.([]any)
		if len(page) != 2 {
			return count, fmt.Errorf("key %s: HSCAN answered %d parts", key, len(page))
		}
		n, err := dumpPairs(key, page[1], each)
		if count += n; err != nil {
			return count, err
		}
		if cursor, _ = page[0].(string); cursor == "0" {
			return count, nil
		}
	}
}

// dumpSorted dumps a sorted set. The embedded Redis has no WITHSCORES, so it asks for each score.
func (s *System) dumpSorted(key string, each func(*record.Line) error) (count int, err error) {
	members, err := s.Redis.Do("ZRANGE", key, "0", "-1")
	if err != nil {
		return 0, err
	}
	list, _ := members.([]any)
	for _, m := range list {
		member, _ := m.(string)
		score, err := s.Redis.Do("ZSCORE", key, member)
		if err != nil {
			return count, err
		}
		text, ok := score.(string)
		if !ok {
			continue // deleted meanwhile
		}
		if err := each(&record.Line{Key: key, Field: member, Value: text}); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// dumpPairs dumps a list of alternating names and values.
func dumpPairs(key string, list any, each func(*record.Line) error) (int, error) {
	texts, ok := list.([]any)
	for pair := range slices.Chunk(texts, 2) {
		field, okField := pair[0].(string)
		value, okValue := pair[len(pair)-1].(string)
		if ok = ok && okField && okValue && len(pair) == 2; !ok {
			break
		}
		if err := each(&record.Line{Key: key, Field: field, Value: value}); err != nil {
			return 0, err
		}
	}
	if !ok {
		return 0, fmt.Errorf("key %s: Redis did not answer with a list of pairs", key)
	}
	return len(texts) / 2, nil
}

func (s *System) dumpQueues(ctx context.Context, _ *seckill.Item, each func(*record.Line) error) error {
	return audit.ReadQueues(ctx, map[string]seckill.Queue{"orders": s.orders, "closings": s.closings}, each)
}
