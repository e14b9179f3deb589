package dynamoledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// TestAListIsPublishedInOneTransaction checks that one transaction writes every copy of the list, compressed, and of
// its version, on condition of the previous version; each copy has its own partition.
func TestAListIsPublishedInOneTransaction(t *testing.T) {
	var l seckill.List
	start := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for n := range 100 {
		l.Items = append(l.Items, seckill.Item{ID: fmt.Sprint(1000 + n), Commodity: seckill.Commodity{ID: "5",
			Title: fmt.Sprintf("手机 %d 型", n), CreateTime: start},
			Price: 8888, Start: start, End: start.Add(time.Hour), CreateTime: start, Stock: 1000, Limit: 1, Buckets: 16,
			Version: 3})
	}
	for l.Version = range int64(3) {
		w := &wire{script: []fault{answer(200, `{}`)}}
		if l.Version == 0 {
			continue
		}
		if err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Publish(ctx, l); err != nil ||
			w.calls() != 1 {
			t.Fatalf("version %d: %d calls, error %v", l.Version, w.calls(), err)
		}
		body := w.requests[0].Body
		condition := map[int64]string{1: "attribute_not_exists", 2: `"N":"1"`}[l.Version]
		if strings.Count(body, `"Put"`) != 16 || strings.Count(body, `"ConditionExpression"`) != 1 ||
			!strings.Contains(body, condition) {
			t.Errorf("version %d: %.2000s", l.Version, body)
		}
		for n := range 8 {
			for _, key := range []string{fmt.Sprintf("version#%02d", n), fmt.Sprintf("list#%02d", n)} {
				if strings.Count(body, `"`+key+`"`) != 1 {
					t.Errorf("version %d has no row %s", l.Version, key)
				}
			}
		}
		if size := len(body) / 8; size > 8<<10 {
			t.Errorf("100 items take %d bytes a copy, want at most two units of a read that may lag", size)
		}
	}
	w := &wire{script: []fault{answer(200, `{}`)}}
	l.Version, l.Items = 1, nil
	for n := range seckill.MaxItems { // titles that do not compress
		title := make([]rune, seckill.MaxTitle)
		for i := range title {
			title[i] = rune(0x4E00 + (n*7919+i*104729+n*i*31)%20000)
		}
		l.Items = append(l.Items, seckill.Item{ID: fmt.Sprint(n + 1), Commodity: seckill.Commodity{ID: "5",
			Title: string(title)}, Version: 1})
	}
	err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Publish(ctx, l)
	if err == nil && len(w.requests[0].Body) > ledger.MaxTransaction || err != nil &&
		seckill.CodeOf(err) != seckill.CodeInvalid {
		t.Errorf("the longest list: error %v, %d bytes in one transaction", err, len(w.requests[0].Body))
	}
}

// packed answers a read of the list with an empty list of the version, or without a row for version 0.
func packed(version int) fault {
	if version == 0 {
		return answer(200, `{}`)
	}
	const none = "H4sIAO/xA2sC/4uO5QIARNJocAMAAAA=" // [] as Publish encodes it
	return answer(200, fmt.Sprintf(
		`{"Item":{"id":{"S":"list#00"},"v":{"N":"1"},"version":{"N":"%d"},"items":{"S":"%s"}}}`, version, none))
}

// TestAListIsReadAsCheaplyAsItCanBe checks that a consistent read follows only if the eventually consistent one was
// too old.
func TestAListIsReadAsCheaplyAsItCanBe(t *testing.T) {
	for name, c := range map[string]struct {
		script []fault
		want   int64 // 0 if ErrUnreadable is wanted
	}{
		"the one asked for":              {[]fault{packed(3)}, 3},
		"a later one":                    {[]fault{packed(5)}, 5},
		"a lagging one, then it":         {[]fault{packed(2), packed(3)}, 3},
		"an older one even consistently": {[]fault{packed(2), packed(2)}, 0},
		"none even consistently":         {[]fault{packed(0), packed(0)}, 0},
		"of another schema version": {[]fault{answer(200,
			`{"Item":{"id":{"S":"list#00"},"v":{"N":"2"},"version":{"N":"3"},"items":{"S":""}}}`)}, 0},
		"not packed as it should be": {[]fault{answer(200,
			`{"Item":{"id":{"S":"list#00"},"v":{"N":"1"},"version":{"N":"3"},"items":{"S":"x"}}}`)}, 0},
		"without its items": {[]fault{answer(200,
			`{"Item":{"id":{"S":"list#00"},"v":{"N":"1"},"version":{"N":"3"}}}`)}, 0},
	} {
		w := &wire{script: c.script}
		got, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().ReadList(ctx, 3)
		if c.want == 0 && (!errors.Is(err, seckill.ErrUnreadable) ||
			!strings.Contains(err.Error(), "catalog row list#0")) {
			t.Errorf("%s: %+v, error %v, want ErrUnreadable that names the row", name, got, err)
		}
		if c.want != 0 && (err != nil || got.Version != c.want || len(got.Items) != 0) {
			t.Errorf("%s: %+v, error %v, want version %d", name, got, err, c.want)
		}
		for i, r := range w.requests {
			if want := fmt.Sprintf(`"ConsistentRead":%t`, i > 0); !strings.Contains(r.Body, want) {
				t.Errorf("%s: read %d is %s, want %s", name, i+1, r.Body, want)
			}
		}
	}
	keys := map[string]int{}
	for range 400 {
		w := &wire{script: []fault{answer(200, `{"Item":{"id":{"S":"version#00"},"v":{"N":"1"},"version":{"N":"7"}}}`)}}
		v, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().ListVersion(ctx)
		if err != nil || v != 7 || !strings.Contains(w.requests[0].Body, `"ConsistentRead":false`) {
			t.Fatalf("version %d, error %v, by %s", v, err, w.requests[0].Body)
		}
		keys[w.requests[0].Body]++
	}
	if len(keys) != 8 {
		t.Errorf("400 looks read %d rows, want 8", len(keys))
	}
}
