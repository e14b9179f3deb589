package dynamoledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/seckill"
)

// described answers a read of a description with the row of a version, or without a row for version 0.
func described(version int) fault {
	if version == 0 {
		return answer(200, `{}`)
	}
	return answer(200, fmt.Sprintf(
		`{"Item":{"id":{"S":"item#1"},"v":{"N":"1"},"version":{"N":"%d"},"detail":{"S":"of %d"},
		"covers":{"L":[]}}}`, version, version))
}

// TestADescriptionIsReadAsCheaplyAsItCanBe checks that an eventually consistent read, which costs half, comes first,
// and that a consistent one follows only if it was too old.
func TestADescriptionIsReadAsCheaplyAsItCanBe(t *testing.T) {
	for name, c := range map[string]struct {
		ask    int64
		script []fault
		want   string // "" if ErrUnreadable is wanted
	}{
		"there is none":                  {0, nil, "of none"},
		"the one asked for":              {3, []fault{described(3)}, "of 3"},
		"a later one":                    {3, []fault{described(5)}, "of 5"},
		"a lagging one, then it":         {3, []fault{described(2), described(3)}, "of 3"},
		"none yet, then it":              {1, []fault{described(0), described(1)}, "of 1"},
		"an older one even consistently": {3, []fault{described(2), described(2)}, ""},
		"none even consistently":         {1, []fault{described(0), described(0)}, ""},
		"a row of another schema version": {1, []fault{answer(200,
			`{"Item":{"id":{"S":"item#1"},"v":{"N":"2"},"version":{"N":"1"}}}`)}, ""},
		"a row without a part": {1, []fault{answer(200,
			`{"Item":{"id":{"S":"item#1"},"v":{"N":"1"},"version":{"N":"1"},"detail":{"S":""}}}`)}, ""},
	} {
		w := &wire{script: c.script}
		got, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Description(ctx, "1", c.ask)
		if c.want == "" && (!errors.Is(err, seckill.ErrUnreadable) ||
			!strings.Contains(err.Error(), "catalog row item#1")) {
			t.Errorf("%s: %+v, error %v, want ErrUnreadable that names the row", name, got, err)
		}
		if c.want != "" && (err != nil || got.Detail != strings.TrimPrefix(c.want, "of none")) {
			t.Errorf("%s: %+v, error %v, want %q", name, got, err, c.want)
		}
		if w.calls() != len(c.script) {
			t.Errorf("%s: %d reads, want %d", name, w.calls(), len(c.script))
		}
		for i, r := range w.requests {
			want := fmt.Sprintf(`"ConsistentRead":%t`, i > 0)
			if !strings.Contains(r.Body, want) || !strings.Contains(r.Body, `"TableName":"catalog"`) {
				t.Errorf("%s: read %d is %s, want %s of the catalog", name, i+1, r.Body, want)
			}
		}
	}
	w := &wire{script: times(9, refuse(400, "AccessDeniedException"))}
	_, err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Description(ctx, "1", 1)
	if err == nil || errors.Is(err, seckill.ErrUnreadable) {
		t.Errorf("a refused read: %v, want a fault", err)
	}
}
