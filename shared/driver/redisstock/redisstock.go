package redisstock

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Stock implements seckill.Stock by running the scripts of this folder.
type Stock struct {
	run  Runner
	keys sync.Map // item id -> *itemKeys
}

// New returns a stock on a runner.
func New(run Runner) *Stock { return &Stock{run: run} }

var _ seckill.Stock = (*Stock)(nil)

// usersPage is the number of users that one users script reads, buildChunk the rows of one build_units, gapChunk the
// units of one build_gaps, and scanChunk the units of one scan. Each keeps a script at a millisecond or less on a
// server.
// passesKept is how many drift passes may run at once and still count.
const (
	passesKept = 8
	usersPage  = 100
	buildChunk = 500
	gapChunk   = 1000
	scanChunk  = 1000
)

type itemKeys struct {
	live  []string // item free held res awaiting users buyers
	build []string // new new:free new:held new:users new:buyers
	all   []string // build, then live
}

func (s *Stock) keysOf(item string) *itemKeys {
	if k, ok := s.keys.Load(item); ok {
		return k.(*itemKeys)
	}
	k := &itemKeys{}
	for _, n := range []string{"item", "free", "held", "res", "awaiting", "users", "buyers"} {
		k.live = append(k.live, "{"+item+"}:"+n)
	}
	for _, n := range []string{"new", "new:free", "new:held", "new:users", "new:buyers"} {
		k.build = append(k.build, "{"+item+"}:"+n)
	}
	k.all = slices.Concat(k.build, k.live)
	s.keys.Store(item, k)
	return k
}

// reply is a script's answer: a word and its values.
type reply struct {
	word string
	rest []any
}

func (s *Stock) script(ctx context.Context, sc *Script, keys []string, args ...string) (reply, error) {
	v, err := s.run.Run(ctx, sc, keys, args)
	if err != nil {
		return reply{}, fmt.Errorf("script %s: %w", sc.Name, err)
	}
	list, _ := v.([]any)
	if len(list) == 0 {
		return reply{}, fmt.Errorf("script %s: answered %v", sc.Name, v)
	}
	word, _ := list[0].(string)
	return reply{word, list[1:]}, Refusal(v)
}

// Refusal returns the error that a script's answer means: ErrNotInstalled, ErrBuildLost, ErrBuildBusy, or nil.
func Refusal(answer any) error {
	list, _ := answer.([]any)
	if len(list) == 0 {
		return nil
	}
	switch list[0] {
	case "not_installed":
		return seckill.ErrNotInstalled
	case "lost":
		return seckill.ErrBuildLost
	case "busy":
		return seckill.ErrBuildBusy
	}
	return nil
}

func (r reply) str(i int) string {
	if i < len(r.rest) {
		switch v := r.rest[i].(type) {
		case string:
			return v
		case int64:
			return strconv.FormatInt(v, 10)
		}
	}
	return ""
}

func (r reply) num(i int) int {
	if i < len(r.rest) {
		switch v := r.rest[i].(type) {
		case int64:
			return int(v)
		case string:
			n, _ := strconv.Atoi(v)
			return n
		}
	}
	return 0
}

func num[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func millis(d time.Duration) string { return num(d.Milliseconds()) }

// instant is 0 for the zero time.
func instant(t time.Time) string {
	if t.IsZero() {
		return "0"
	}
	return num(t.UnixMilli())
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func joinUnits(units []int) string {
	var b strings.Builder
	for i, n := range units {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

func splitUnits(csv string) ([]int, error) {
	if csv == "" {
		return nil, nil
	}
	out := make([]int, 0, strings.Count(csv, ",")+1)
	for part := range strings.SplitSeq(csv, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("units %q: %w", csv, err)
		}
		out = append(out, n)
	}
	return out, nil
}

// parseRecord decodes a record, whose format common.lua describes.
func parseRecord(item, order, raw string) (seckill.Reservation, error) {
	f := strings.SplitN(raw, "|", 9)
	if len(f) != 9 {
		return seckill.Reservation{}, fmt.Errorf("record of %s: %d fields", order, len(f))
	}
	r := seckill.Reservation{Request: seckill.Request{Order: order, Item: item, User: f[6]}}
	var err error
	if r.Count, err = strconv.Atoi(f[1]); err != nil {
		return r, fmt.Errorf("record of %s: count: %w", order, err)
	}
	if r.Units, err = splitUnits(f[2]); err != nil {
		return r, fmt.Errorf("record of %s: %w", order, err)
	}
	ms, err := strconv.ParseInt(f[5], 10, 64)
	if err != nil {
		return r, fmt.Errorf("record of %s: time: %w", order, err)
	}
	r.Created = time.UnixMilli(ms).UTC()
	if err := r.SetBody(f[8]); err != nil {
		return r, fmt.Errorf("record of %s: body: %w", order, err)
	}
	return r, nil
}

// Reserve implements seckill.Stock.
func (s *Stock) Reserve(ctx context.Context, now time.Time, r seckill.Request, keyed bool,
	resend time.Duration) (seckill.ReserveResult, error) {
	a, err := s.script(ctx, reserve, s.keysOf(r.Item).live, num(now.UnixMilli()), r.Order, r.User, num(r.Count),
		flag(keyed), r.BodyHash(), r.Body(), millis(resend), num(seckill.BuyerBit(r.User)), r.Known)
	if err != nil {
		return seckill.ReserveResult{}, err
	}
	res := seckill.ReserveResult{Code: seckill.ReserveCode(a.word), Order: a.str(0)}
	switch res.Code {
	case seckill.ReserveNone, seckill.ReserveLate, seckill.ReserveStopped, seckill.ReserveHeld:
		res.Order, res.Waiting = "", a.num(0) > 0
		res.Buyers = seckill.Buyers{Version: a.str(1), Bits: a.str(2)}
	case seckill.ReserveEarly:
		res.Order, res.Start = "", time.UnixMilli(int64(a.num(0))).UTC()
	case seckill.ReserveLimit:
		res.Limit = a.num(1)
	case seckill.Reserved:
		res.Reservation.Request = r
		res.Reservation.Units, err = splitUnits(a.str(1))
	case seckill.ReservedAgain:
		res.Reservation, err = parseRecord(r.Item, res.Order, a.str(1))
	}
	return res, err
}

// Confirm implements seckill.Stock.
func (s *Stock) Confirm(ctx context.Context, v seckill.Verdict) error {
	for {
		a, err := s.script(ctx, confirm, s.keysOf(v.Item).live, v.Order, v.User, joinUnits(v.Units), instant(v.Refused),
			instant(v.BlockedUntil))
		if err != nil || a.word != "more" {
			return err
		}
	}
}

// Redraw implements seckill.Stock.
func (s *Stock) Redraw(ctx context.Context, now time.Time, r seckill.Reservation, c seckill.Collision,
	resend time.Duration) (seckill.RedrawCode, seckill.Reservation, error) {
	a, err := s.script(ctx, redraw, s.keysOf(r.Item).live, num(now.UnixMilli()), r.Order, r.User, num(r.Count),
		r.BodyHash(), r.Body(),
		num(r.Created.UnixMilli()), num(c.Unit), c.Owner, c.User, millis(resend))
	if err != nil {
		return "", seckill.Reservation{}, err
	}
	code := seckill.RedrawCode(a.word)
	if code != seckill.RedrawUnits {
		return code, seckill.Reservation{}, nil
	}
	got, err := parseRecord(r.Item, a.str(0), a.str(1))
	return code, got, err
}

// Return implements seckill.Stock.
func (s *Stock) Return(ctx context.Context, item, order, user string, units []int) error {
	_, err := s.script(ctx, giveBack, s.keysOf(item).live, order, user, joinUnits(units))
	return err
}

// Due implements seckill.Stock.
func (s *Stock) Due(ctx context.Context, now time.Time, item string, limit int,
	longest time.Duration) ([]seckill.Reservation, error) {
	a, err := s.script(ctx, due, s.keysOf(item).live, num(now.UnixMilli()), num(limit), millis(longest))
	if err != nil {
		return nil, err
	}
	out := make([]seckill.Reservation, 0, len(a.rest)/2)
	for i := 0; i+1 < len(a.rest); i += 2 {
		r, err := parseRecord(item, a.str(i), a.str(i+1))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Assert implements seckill.Stock.
func (s *Stock) Assert(ctx context.Context, it seckill.Item) error {
	_, err := s.script(ctx, assert, s.keysOf(it.ID).live, num(it.Version), flag(it.Stopped), num(it.Start.UnixMilli()),
		num(it.End.UnixMilli()), num(it.Limit), num(int64(it.Price)), num(it.Stock))
	return err
}

// Level implements seckill.Stock.
func (s *Stock) Level(ctx context.Context, item string) (seckill.Level, error) {
	a, err := s.script(ctx, level, s.keysOf(item).live)
	return seckill.Level{Left: a.num(0), Held: a.num(1), Awaiting: a.num(2), HighWater: a.num(3), Stock: a.num(4),
		Version: int64(a.num(5)), Stopped: a.num(6) == 1, Records: a.num(7),
		Back: seckill.HeldBack{Units: a.num(8), Build: a.str(9), Looks: a.num(10)}}, err
}

// Queued implements seckill.Stock.
func (s *Stock) Queued(ctx context.Context, item, user, order string) (seckill.Reservation, error) {
	a, err := s.script(ctx, queued, s.keysOf(item).live, user, order)
	if err != nil || len(a.rest) == 0 {
		return seckill.Reservation{}, err
	}
	return parseRecord(item, a.str(0), a.str(1))
}

// DriftBegin implements seckill.Stock.
func (s *Stock) DriftBegin(ctx context.Context, item, token string) (int64, error) {
	a, err := s.script(ctx, driftBegin, s.keysOf(item).live, token, num(passesKept))
	return int64(a.num(0)), err
}

// DriftEnd implements seckill.Stock.
func (s *Stock) DriftEnd(ctx context.Context, item, token string, pass int64) error {
	_, err := s.script(ctx, driftEnd, s.keysOf(item).live, token, num(pass))
	return err
}

// Scan implements seckill.Stock.
func (s *Stock) Scan(ctx context.Context, item string, bucket, buckets int) ([]seckill.Seen, error) {
	var out []seckill.Seen
	next := bucket
	if bucket == 0 {
		next = buckets
	}
	for {
		a, err := s.script(ctx, scan, s.keysOf(item).live, num(next), num(buckets), num(scanChunk))
		if err != nil {
			return nil, err
		}
		for i := 0; i+2 < len(a.rest); i += 3 {
			f := a.str(i + 2)
			n := a.num(i)
			next = n + buckets
			out = append(out, seckill.Seen{Unit: n, Holder: a.str(i + 1), Free: f == "f", Awaiting: f == "a"})
		}
		if len(a.rest) < 3*scanChunk {
			return out, nil
		}
	}
}

// Correct implements seckill.Stock.
func (s *Stock) Correct(ctx context.Context, item string, c seckill.Correction) (bool, error) {
	a, err := s.script(ctx, correct, s.keysOf(item).live, num(c.Unit), c.Holder, c.Owner, c.User)
	return a.num(0) == 1, err
}

// Users implements seckill.Stock.
func (s *Stock) Users(ctx context.Context, item string, cursor uint64) ([]seckill.UserEntries, uint64, error) {
	a, err := s.script(ctx, users, s.keysOf(item).live, strconv.FormatUint(cursor, 10), num(usersPage))
	if err != nil {
		return nil, 0, err
	}
	next, err := strconv.ParseUint(a.str(0), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("users: cursor: %w", err)
	}
	var out []seckill.UserEntries
	for i := 1; i+2 < len(a.rest); i += 3 {
		u := seckill.UserEntries{User: a.str(i), AsSeen: a.str(i + 1), Orders: map[string]int{}, Busy: a.num(i+2) == 1}
		for _, e := range splitEntries(u.AsSeen) {
			u.Orders[e.order] = e.units
		}
		out = append(out, u)
	}
	return out, next, nil
}

type entry struct {
	order string
	units int
}

func splitEntries(s string) []entry {
	var out []entry
	for part := range strings.SplitSeq(s, ",") {
		if order, c, ok := strings.Cut(part, ":"); ok {
			n, _ := strconv.Atoi(c)
			out = append(out, entry{order, n})
		}
	}
	return out
}

// CorrectUser implements seckill.Stock.
func (s *Stock) CorrectUser(ctx context.Context, item string, seen seckill.UserEntries, want map[string]int) (bool,
	error) {
	// Keep the stock's order of entries, oldest first: the last entry counts as "the newest order".
	var parts []string
	known := map[string]bool{}
	for _, e := range splitEntries(seen.AsSeen) {
		known[e.order] = true
		if n := want[e.order]; n > 0 {
			parts = append(parts, e.order+":"+strconv.Itoa(n))
		}
	}
	var more []string
	for o, n := range want {
		if !known[o] && n > 0 {
			more = append(more, o+":"+strconv.Itoa(n))
		}
	}
	slices.Sort(more)
	a, err := s.script(ctx, correctUser, s.keysOf(item).live, seen.User, seen.AsSeen,
		strings.Join(append(parts, more...), ","))
	return a.num(0) == 1, err
}

// ownFields is more than an item's hash has, its copied blocks apart.
const ownFields = 100

// CopyBlocks implements seckill.Stock.
func (s *Stock) CopyBlocks(ctx context.Context, item string, now, read time.Time, put, drop []seckill.Block) error {
	listed := ""
	if !read.IsZero() {
		listed = num(read.UnixMilli())
	}
	all := slices.Concat(put, drop)
	for from := 0; from < len(all); from += buildChunk {
		args := []string{num(now.UnixMilli()), listed, millis(seckill.BlocksLag), num(seckill.MaxCopied + ownFields)}
		for i := from; i < min(from+buildChunk, len(all)); i++ {
			b := &all[i]
			user, ok := b.Subject.User()
			if !ok {
				return fmt.Errorf("blocks: %s is no user", b.Subject)
			}
			if b.Item == seckill.Everywhere {
				user = seckill.Everywhere + user
			}
			ends := instant(b.Until)
			if i >= len(put) {
				ends = "" // to forget it
			}
			args = append(args, user, ends)
		}
		if _, err := s.script(ctx, copyBlocks, s.keysOf(item).live, args...); err != nil {
			return err
		}
	}
	return nil
}

// CopiedBlocks implements seckill.Stock.
func (s *Stock) CopiedBlocks(ctx context.Context, item string, cursor uint64) ([]seckill.Block, uint64, error) {
	a, err := s.script(ctx, copied, s.keysOf(item).live, strconv.FormatUint(cursor, 10), num(buildChunk))
	if err != nil {
		return nil, 0, err
	}
	next, err := strconv.ParseUint(a.str(0), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("blocks: cursor: %w", err)
	}
	var out []seckill.Block
	for i := 1; i+1 < len(a.rest); i += 2 {
		user, everywhere := strings.CutPrefix(a.str(i), seckill.Everywhere)
		b := seckill.Block{Subject: seckill.UserSubject(user), Item: item}
		if everywhere {
			b.Item = seckill.Everywhere
		}
		if ends := a.str(i + 1); ends != "0" {
			ms, err := strconv.ParseInt(ends, 10, 64)
			if err != nil {
				return nil, 0, fmt.Errorf("blocks: %s of %s: %w", b.Subject, item, err)
			}
			b.Until = time.UnixMilli(ms).UTC()
		}
		out = append(out, b)
	}
	return out, next, nil
}

// BuildStart implements seckill.Stock.
func (s *Stock) BuildStart(ctx context.Context, now time.Time, item, token string) error {
	_, err := s.script(ctx, buildStart, s.keysOf(item).build, token, num(now.UnixMilli()),
		millis(seckill.BuildPatience))
	return err
}

// BuildUnits implements seckill.Stock.
func (s *Stock) BuildUnits(ctx context.Context, now time.Time, item, token string, rows []seckill.UnitRow) (int,
	error) {
	total := 0
	for chunk := range slices.Chunk(rows, buildChunk) {
		args := make([]string, 0, 2+4*len(chunk))
		args = append(args, token, num(now.UnixMilli()))
		for _, r := range chunk {
			args = append(args, num(r.Unit), r.Order, r.User, num(seckill.BuyerBit(r.User)))
		}
		a, err := s.script(ctx, buildUnits, s.keysOf(item).build, args...)
		if err != nil {
			return 0, err
		}
		total += a.num(0)
	}
	return total, nil
}

// BuildGaps implements seckill.Stock.
func (s *Stock) BuildGaps(ctx context.Context, now time.Time, item, token string, from, to int) error {
	for ; from <= to; from += gapChunk {
		if _, err := s.script(ctx, buildGaps, s.keysOf(item).build, token, num(now.UnixMilli()), num(from),
			num(min(from+gapChunk-1, to))); err != nil {
			return err
		}
	}
	return nil
}

// Install implements seckill.Stock.
func (s *Stock) Install(ctx context.Context, it seckill.Item, token string, unitCount, userCount, highWater,
	back int) error {
	_, err := s.script(ctx, install, s.keysOf(it.ID).all, token, num(unitCount), num(userCount), num(highWater),
		num(it.Start.UnixMilli()), num(it.End.UnixMilli()), num(it.Limit), num(int64(it.Price)), num(it.Stock),
		num(it.Version), flag(it.Stopped), num(back))
	return err
}

// HoldBack implements seckill.Stock.
func (s *Stock) HoldBack(ctx context.Context, item string, h seckill.HeldBack) (units int, err error) {
	a, err := s.script(ctx, holdBack, s.keysOf(item).live, h.Build, num(h.Looks), num(h.Units))
	return a.num(0), err
}

// Remove implements seckill.Stock.
func (s *Stock) Remove(ctx context.Context, item string) error {
	_, err := s.script(ctx, remove, s.keysOf(item).all)
	return err
}
