package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/itemfile"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/telemetry"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)

func item(id string, startsIn time.Duration) seckill.Listing {
	return seckill.Listing{Description: seckill.Description{Detail: "<b>x</b>"}, Item: seckill.Item{ID: id, Price: 100,
		Start: now.Add(startsIn), End: now.Add(startsIn + time.Hour), Stock: 10, Limit: 1, Buckets: 16,
		CreateTime: now, Version: 1, Commodity: seckill.Commodity{ID: id, Title: "表 " + id, Price: 200,
			CreateTime: now}}}
}

// shop is a handler and its client.
type shop struct {
	redis  *memory.Redis
	items  *memory.Items
	flow   *stage.Flow
	handle func(context.Context, []byte) ([]byte, error)
	client operator.Client
	audit  bytes.Buffer
	events []string
}

func newShop(t *testing.T, items ...seckill.Listing) *shop {
	t.Helper()
	w := &shop{redis: memory.NewRedis(), items: memory.NewItems()}
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: memory.NewClock(now)}))
	w.flow = stage.New(stage.Deps{Stock: redisstock.New(w.redis), Items: w.items, Clock: memory.NewClock(now),
		IDs: system.NewIDs(nil), Questions: l, Activities: l, Blocks: l})
	w.handle = operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), operator.NewItemHandler(w.flow))
	w.client = operator.Client{Who: "arn:aws:iam::123456789012:user/ops", Call: func(ctx context.Context,
		event []byte) ([]byte, error) {
		w.events = append(w.events, string(event))
		return w.handle(ctx, event)
	}}
	for _, it := range items {
		must.OK(t, w.items.Put(t.Context(), it.Item, &it.Description))
	}
	must.OK(t, w.flow.Run(t.Context()))
	return w
}

// take imports items.
func (w *shop) take(ctx context.Context, items ...seckill.Listing) (stage.Imported, error) {
	return operator.Give[stage.Imported](ctx, &w.client, &operator.Import{Items: itemfile.Format(items)})
}

// refused checks that a command is refused with a code and, unless it is "", a detail, and is in the audit log.
func (w *shop) refused(t *testing.T, name, who string, err error, code seckill.Code, detail string) {
	t.Helper()
	var refused *operator.Refusal
	if !errors.As(err, &refused) || refused.Code != code || detail != "" && refused.Detail != detail {
		t.Errorf("%s: %#v, want %s %q", name, err, code, detail)
	}
	lines := w.lines(t)
	if len(lines) != 1 || lines[0]["result"] != string(code) || lines[0]["who"] != who || lines[0]["level"] != "WARN" {
		t.Errorf("%s: audit %v", name, lines)
	}
}

// event checks that an event is refused for a field, with a line in the audit log.
func (w *shop) event(t *testing.T, handle func(context.Context, []byte) ([]byte, error), event, field string) {
	t.Helper()
	out, err := handle(t.Context(), []byte(`{"operator":{`+event+`}}`))
	var a struct {
		Result  json.RawMessage
		Problem struct{ Code, Field string }
	}
	if err = errors.Join(err, json.Unmarshal(out, &a)); err != nil || a.Result != nil ||
		a.Problem.Code != "invalid_request" || a.Problem.Field != field {
		t.Errorf("%s: %s, %v; want %s refused", event, out, err, field)
	}
	if n := strings.Count(w.audit.String(), "\n"); n != 1 {
		t.Errorf("%s: %d lines in the audit log", event, n)
	}
	w.audit.Reset()
}

// line is a line of the audit log.
func line(who, result string, more ...any) map[string]any {
	m := map[string]any{"level": "INFO", "msg": "operator", "who": who, "result": result}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// lines returns the audit log without its times, and empties it.
func (w *shop) lines(t *testing.T) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(w.audit.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		delete(m, "timestamp")
		out = append(out, m)
	}
	w.audit.Reset()
	return out
}

func TestEveryCommandThroughClientAndHandler(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("7", time.Minute))
	ctx := t.Context()
	line := func(result string, more ...any) map[string]any { return line(w.client.Who, result, more...) }
	state := func(s seckill.ItemState, stock int, changed bool) string {
		return fmt.Sprint(s, stock, stock, true, changed, " <nil>")
	}
	change := func(c operator.Command) func() string {
		return func() string {
			it, err := operator.Give[operator.ItemChange](ctx, &w.client, c)
			return fmt.Sprint(it.State, it.Stock, it.Left, it.Loaded, it.Changed, " ", err)
		}
	}
	in := func(items ...seckill.Listing) func() string {
		return func() string { return fmt.Sprint(w.take(ctx, items...)) }
	}
	stop, resume := change(&operator.Stop{Item: "7"}), change(&operator.Resume{Item: "7"})
	add := func(n int) func() string { return change(&operator.AddStock{Item: "7", Stock: n}) }
	for _, step := range []struct {
		name  string
		do    func() string
		want  string
		audit map[string]any
	}{
		{"stop", stop, state(seckill.ItemStopped, 10, true), line("changed", "command", "stop", "item", "7")},
		{"stop again", stop, state(seckill.ItemStopped, 10, false), line("unchanged", "command", "stop", "item", "7")},
		{"resume", resume, state(seckill.ItemWaiting, 10, true), line("changed", "command", "resume", "item", "7")},
		{"more stock", add(12), state(seckill.ItemWaiting, 12, true),
			line("changed", "command", "add-stock", "item", "7", "stock", 12.0)},
		{"less stock", add(5), state(seckill.ItemWaiting, 12, false),
			line("unchanged", "command", "add-stock", "item", "7", "stock", 5.0)},
		{"import", in(item("8", time.Hour)), "{[8] [] [] map[]} <nil>",
			line("changed", "command", "import", "made", []any{"8"}, "changed", []any{})},
		{"import again", in(item("8", time.Hour)), "{[] [] [8] map[]} <nil>",
			line("unchanged", "command", "import", "made", []any{}, "changed", []any{})},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
		if diff := cmp.Diff([]map[string]any{step.audit}, w.lines(t)); diff != "" {
			t.Errorf("%s: audit -want +got\n%s", step.name, diff)
		}
	}
	asked := item("9", time.Hour)
	asked.Checks, asked.Questions = seckill.ChecksStrict, []seckill.Question{{Text: "?", Answers: []string{"secret"}}}
	if got := in(asked)(); got != "{[9] [] [] map[]} <nil>" || strings.Contains(w.audit.String(), "secret") {
		t.Errorf("import of questions: %s, audit %s", got, &w.audit)
	}
	w.audit.Reset()
	data, err := w.client.Export(ctx)
	items, parseErr := itemfile.Parse("a.json", data, now)
	if err != nil || parseErr != nil || !bytes.Equal(data, itemfile.Format(items)) || len(items) != 3 ||
		items[0].ID != "7" || items[0].Stock != 12 || items[1].ID != "8" ||
		items[2].Questions[0].Answers[0] != "secret" {
		t.Errorf("export: %v, %v\n%s", err, parseErr, data)
	}
	if diff := cmp.Diff([]map[string]any{line("read", "command", "export")}, w.lines(t)); diff != "" {
		t.Errorf("export: audit -want +got\n%s", diff)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for name, nodes := range map[string][]seckill.CacheNode{"no servers": nil,
		"one":      {{Address: "a:1", Time: now.Add(time.Second), Role: "master", Limit: 5 << 40}},
		"one away": {{Fault: "EOF"}}} {
		handler := operator.NewItemHandler(w.flow)
		handler.Look = func(context.Context) []seckill.CacheNode { return nodes }
		w.handle = operator.Serve(telemetry.NewLog(&w.audit, slog.LevelInfo), handler)
		got, err := operator.Give[operator.Health](t.Context(), &w.client, &operator.ReadHealth{})
		if diff := cmp.Diff(operator.Health{Now: now, Redis: nodes}, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", name, err, diff)
		}
		if l := w.lines(t); len(l) != 1 || l[0]["command"] != "health" || l[0]["result"] != "read" {
			t.Errorf("%s: audit %v", name, l)
		}
	}
}

// TestStopIsInTheStock checks that after an acknowledged stop the stock itself reserves nothing.
func TestStopIsInTheStock(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("7", time.Minute))
	reserve := func(order string) (seckill.ReserveCode, error) {
		r, err := redisstock.New(w.redis).Reserve(t.Context(), now.Add(2*time.Minute), seckill.Request{Order: order,
			Item: "7", User: "1", Count: 1, Given: seckill.Given{Address: "x"}, Created: now}, true, time.Minute)
		return r.Code, err
	}
	for _, step := range []struct {
		c    operator.Command
		want seckill.ReserveCode
	}{{&operator.Stop{Item: "7"}, seckill.ReserveStopped}, {&operator.Resume{Item: "7"}, seckill.Reserved}} {
		if _, err := operator.Give[operator.ItemChange](t.Context(), &w.client, step.c); err != nil {
			t.Fatal(err)
		}
		if got, err := reserve("o" + step.c.Spec().Name); err != nil || got != step.want {
			t.Errorf("%s: reserve: %v, %v; want %v", step.c.Spec().Name, got, err, step.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("7", time.Minute), item("9", time.Hour))
	ctx := t.Context()
	smaller := item("9", time.Hour)
	smaller.Stock = 1
	for name, c := range map[string]struct {
		c      operator.Command
		code   seckill.Code
		detail string
	}{
		"unknown item": {&operator.Stop{Item: "404"}, seckill.CodeItemUnknown, "There is no such item."},
		"import refused": {&operator.Import{Items: itemfile.Format([]seckill.Listing{item("10", time.Hour), smaller})},
			seckill.CodeInvalid, "item 9: stock: 1 is less than the 10 that it has, and stock only grows"},
		"no items": {&operator.Import{Items: []byte("[]")}, seckill.CodeInvalid, "items.json: no items in it"},
	} {
		_, err := operator.Give[json.RawMessage](ctx, &w.client, c.c)
		w.refused(t, name, w.client.Who, err, c.code, c.detail)
	}
	if _, err := w.items.Get(ctx, "10"); !errors.Is(err, seckill.Refuse(seckill.CodeItemUnknown)) {
		t.Errorf("imported beside a refused one: %v", err)
	}
	w.redis.Flush()
	w.lines(t)
	_, err := operator.Give[json.RawMessage](ctx, &w.client, &operator.Stop{Item: "7"})
	w.refused(t, "the stock is lost: it is not acknowledged", w.client.Who, err, seckill.CodeNotReady, "")
}

func TestEventsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("7", time.Minute))
	long := strings.Repeat("9", operator.MaxEvent)
	for name, c := range map[string]struct {
		event string
		want  string // part of the problem document; "" for an error
	}{
		"empty":        {"", ""},
		"no JSON":      {"{", ""},
		"an array":     {"[]", ""},
		"another kind": {`{"Records":[]}`, ""},
		"null":         {`{"operator":null}`, `"field":"operator"`},
		"a text":       {`{"operator":"stop"}`, `"field":"operator"`},
		"beside something": {`{"operator":{"command":"stop","who":"a","item":"7"},"dry_run":true}`,
			`"field":"operator"`},
		"with something": {`{"operator":{"command":"stop","who":"a","item":"7","dry_run":true}}`,
			`"field":"operator"`},
		"followed by something":   {`{"operator":{"command":"stop","who":"a","item":"7"}}{}`, ""},
		"no command":              {`{"operator":{"who":"a","item":"7"}}`, `"field":"command"`},
		"another command":         {`{"operator":{"command":"delete","who":"a","item":"7"}}`, `"field":"command"`},
		"nobody":                  {`{"operator":{"command":"stop","item":"7"}}`, `"field":"who"`},
		"somebody with two lines": {`{"operator":{"command":"stop","item":"7","who":"a\nb"}}`, `"field":"who"`},
		"somebody long": {`{"operator":{"command":"stop","item":"7","who":"` + long[:257] + `"}}`,
			`"field":"who"`},
		"no item":           {`{"operator":{"command":"stop","who":"a"}}`, `"field":"item"`},
		"no id":             {`{"operator":{"command":"stop","who":"a","item":"07"}}`, `"field":"item"`},
		"item of a look":    {`{"operator":{"command":"health","who":"a","item":"7"}}`, `"field":"item"`},
		"item of an export": {`{"operator":{"command":"export","who":"a","item":"7"}}`, `"field":"item"`},
		"stop with stock": {`{"operator":{"command":"stop","who":"a","item":"7","stock":3}}`,
			`"field":"stock"`},
		"no stock": {`{"operator":{"command":"add-stock","who":"a","item":"7"}}`, `"field":"stock"`},
		"stock negative": {`{"operator":{"command":"add-stock","who":"a","item":"7","stock":-1}}`,
			`"field":"stock"`},
		"stock too large": {`{"operator":{"command":"add-stock","who":"a","item":"7","stock":1000001}}`,
			`"field":"stock"`},
		"stock in parts": {`{"operator":{"command":"add-stock","who":"a","item":"7","stock":1.5}}`,
			`"field":"operator"`},
		"stop after": {`{"operator":{"command":"stop","who":"a","item":"7","after":"7"}}`,
			`"field":"after"`},
		"after no id":       {`{"operator":{"command":"export","who":"a","after":"x"}}`, `"field":"after"`},
		"import of nothing": {`{"operator":{"command":"import","who":"a"}}`, `"field":"items"`},
		"import of null": {`{"operator":{"command":"import","who":"a","items":null}}`,
			"want an array of items"},
		"items of a stop": {`{"operator":{"command":"stop","who":"a","item":"7","items":[]}}`,
			`"field":"items"`},
		"import with unknown parts": {`{"operator":{"command":"import","who":"a","items":[{"colour":"red"}]}}`,
			`\"colour\" is not a column`},
		"too large": {`{"operator":{"command":"stop","who":"` + long + `","item":"7"}}`,
			"body_too_large"},
	} {
		out, err := w.handle(t.Context(), []byte(c.event))
		var answer struct{ Result, Problem json.RawMessage }
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if (c.want == "") != (err != nil) || answer.Result != nil || !strings.Contains(string(answer.Problem), c.want) {
			t.Errorf("%s: %s, %v; want %q", name, out, err, c.want)
		}
		log := w.audit.String()
		if len(log) > 2000 || strings.Count(log, "\n") != 1 || !strings.Contains(log, `"level":"WARN"`) {
			t.Errorf("%s: audit %.3000s; want one line, not long", name, log)
		}
		w.audit.Reset()
	}
	if it, err := w.items.Get(t.Context(), "7"); err != nil || it.Version != 1 || it.Stopped || it.Stock != 10 {
		t.Errorf("afterwards %+v, %v; want it untouched", it, err)
	}
}

// TestDescriptionsAreSanitizedHere: an event need not come from the CLI, which also sanitizes.
func TestDescriptionsAreSanitizedHere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	evil := item("7", time.Hour)
	evil.Detail = `<b>x</b><script>alert(1)</script>`
	if _, err := w.take(t.Context(), evil); err != nil {
		t.Fatal(err)
	}
	if d, err := w.items.Description(t.Context(), "7", 1); err != nil || d.Detail != "<b>x</b>" {
		t.Errorf("%q, %v", d.Detail, err)
	}
}

// failing is a table of items that accepts a limited number of writes.
type failing struct {
	seckill.Items
	puts int
}

func (f *failing) Put(ctx context.Context, it seckill.Item, d *seckill.Description) error {
	if f.puts--; f.puts < 0 {
		return errors.New("no answer")
	}
	return f.Items.Put(ctx, it, d)
}

// TestAFaultInAnImport checks that the audit log has the items written before a fault, and that a second import
// writes the rest.
func TestAFaultInAnImport(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.flow.Items = &failing{w.items, 1}
	file := []seckill.Listing{item("7", time.Hour), item("8", time.Hour)}
	var refused *operator.Refusal
	if _, err := w.take(t.Context(), file...); !errors.As(err, &refused) ||
		refused.Code != seckill.CodeUnavailable {
		t.Errorf("got %v, want %s", err, seckill.CodeUnavailable)
	}
	want := map[string]any{"level": "WARN", "msg": "operator", "who": w.client.Who, "command": "import",
		"made": []any{"7"}, "changed": []any{},
		"result": "unavailable", "err": "item 8: no answer"}
	if diff := cmp.Diff([]map[string]any{want}, w.lines(t)); diff != "" {
		t.Errorf("audit -want +got\n%s", diff)
	}
	w.flow.Items = w.items
	if done, err := w.take(t.Context(), file...); err != nil || fmt.Sprint(done) != "{[8] [] [7] map[]}" {
		t.Errorf("again: %v, %v", done, err)
	}
}

// TestExportInPages checks that an export larger than one answer arrives complete and in order.
func TestExportInPages(t *testing.T) {
	t.Parallel()
	var items []seckill.Listing
	for i := range 80 {
		it := item(fmt.Sprint(50+i), time.Hour) // ids in numeric order: 99, 100
		it.Base, it.KeepsVariant = it.Version, true
		items = append(items, it)
	}
	var w *shop
	for _, detail := range []string{"长", `"`} { // 60 kB each; 40 kB, which are 80 kB in an answer of API Gateway
		for i := range items {
			items[i].Detail = strings.Repeat(detail, seckill.MaxDetail)
		}
		w = newShop(t, items...)
		largest := 0
		call := w.client.Call
		w.client.Call = func(ctx context.Context, event []byte) ([]byte, error) {
			out, err := call(ctx, event)
			largest = max(largest, operator.TextSize(out))
			return out, err
		}
		data, err := w.client.Export(t.Context())
		if err != nil || !bytes.Equal(data, itemfile.Format(items)) {
			t.Errorf("%v, %d bytes, want %d", err, len(data), len(itemfile.Format(items)))
		}
		if len(w.events) != 2 || largest > 5<<20 {
			t.Errorf("%s: %d calls, the largest answer %d bytes", detail, len(w.events), largest)
		}
	}
	for i := range items { // 20 kB each, 6.4 MB in total
		items[i].Detail = strings.Repeat("&", seckill.MaxDetail)
	}
	w.events = nil
	items = slices.Repeat(items, 4)
	if _, err := w.take(t.Context(), items...); !errors.Is(err, operator.ErrTooLarge) || len(w.events) != 0 {
		t.Errorf("import of too much: %v after %d calls, want %v and none", err, len(w.events), operator.ErrTooLarge)
	}
}

// rotten is a table of items with some unreadable rows.
type rotten struct{ seckill.Items }

func (r rotten) List(ctx context.Context, endsAfter time.Time) ([]seckill.Item, error) {
	list, err := r.Items.List(ctx, endsAfter)
	return list, errors.Join(err, &seckill.Unreadable{Table: "items", PK: "8", Why: ": x"},
		&seckill.Unreadable{Table: "items", PK: "9", Why: ": y"})
}

func (r rotten) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	if id == "6" {
		return seckill.Description{}, &seckill.Unreadable{Table: "catalog", PK: "item#6", Why: ": z"}
	}
	return r.Items.Description(ctx, id, described)
}

// TestExportOfWhatCanBeRead checks that an unreadable row is named and that all other items are exported.
func TestExportOfWhatCanBeRead(t *testing.T) {
	t.Parallel()
	good := item("7", time.Hour)
	w := newShop(t, item("6", time.Hour), good)
	w.flow.Items = rotten{w.items}
	data, err := w.client.Export(t.Context())
	var leftOut *operator.LeftOut
	if !errors.As(err, &leftOut) ||
		!slices.Equal(leftOut.Rows, []string{"items row 8: x", "items row 9: y", "catalog row item#6: z"}) {
		t.Errorf("error %v, want the three rows named", err)
	}
	if good.Base, good.KeepsVariant = 1, true; !bytes.Equal(data, itemfile.Format([]seckill.Listing{good})) {
		t.Errorf("exported %s, want item 7", data)
	}
}

func TestAnswersOfSomethingElse(t *testing.T) {
	t.Parallel()
	fault := errors.New("no answer")
	for name, c := range map[string]struct {
		answer string
		err    error
		want   error
	}{
		"the schedule's": {"null", nil, operator.ErrAnswer},
		"no JSON":        {"<html>", nil, operator.ErrAnswer},
		"empty":          {"{}", nil, operator.ErrAnswer},
		"a problem less": {`{"problem":{}}`, nil, operator.ErrAnswer},
		"another shape":  {`{"result":"ok"}`, nil, operator.ErrAnswer},
		"pages for ever": {`{"result":{"items":[],"next":"7"}}`, nil, operator.ErrAnswer},
		"a fault":        {"", fault, fault},
	} {
		calls := 0
		client := operator.Client{Who: "a", Call: func(context.Context, []byte) ([]byte, error) {
			if calls++; calls > 2 {
				return nil, errors.New("asked again and again")
			}
			return []byte(c.answer), c.err
		}}
		if data, err := client.Export(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %s, %v after %d calls; want %v", name, data, err, calls, c.want)
		}
	}
}

// apart is a stock that executes an Assert only after a Level was requested.
type apart struct {
	stage.Stock
	asked chan struct{}
}

func (a apart) Level(ctx context.Context, item string) (seckill.Level, error) {
	close(a.asked)
	return a.Stock.Level(ctx, item)
}

func (a apart) Assert(ctx context.Context, it seckill.Item) error {
	select {
	case <-a.asked:
		return a.Stock.Assert(ctx, it)
	case <-time.After(5 * time.Second):
		return errors.New("nobody has asked for the level meanwhile")
	}
}

// A stop waits for the stock once, because both of its calls run concurrently.
func TestStopWaitsForTheStockOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("2", time.Minute))
	w.flow.Stock = apart{w.flow.Stock, make(chan struct{})}
	it, err := operator.Give[operator.ItemChange](t.Context(), &w.client, &operator.Stop{Item: "2"})
	if err != nil || it.Left != 10 || !it.Loaded {
		t.Errorf("%+v, %v; want it stopped, 10 left", it, err)
	}
}

// hung does not answer for the items of an import, until it is released.
type hung struct {
	seckill.Items
	asked   chan struct{}
	release chan struct{}
}

func (h hung) Get(ctx context.Context, id string) (seckill.Item, error) {
	if id != "2" {
		h.asked <- struct{}{}
		<-h.release
	}
	return h.Items.Get(ctx, id)
}

// A stop does not wait for imports, of which one hangs and many queue up behind it.
func TestStopOvertakesImports(t *testing.T) {
	t.Parallel()
	w := newShop(t, item("2", time.Minute))
	h := hung{w.flow.Items, make(chan struct{}, 100), make(chan struct{})}
	w.flow.Items = h
	client := operator.Client{Who: "arn:aws:iam::123456789012:user/ops", Call: w.handle}
	file := itemfile.Format([]seckill.Listing{item("3", time.Hour)})
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			_, err := operator.Give[stage.Imported](t.Context(), &client, &operator.Import{Items: file})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-h.asked
	done := make(chan error, 1)
	go func() {
		_, err := operator.Give[operator.ItemChange](t.Context(), &client, &operator.Stop{Item: "2"})
		done <- err
	}()
	select {
	case err := <-done:
		must.OK(t, err)
	case <-time.After(10 * time.Second):
		t.Error("the stop waits")
	}
	close(h.release)
	wait.Wait()
}
