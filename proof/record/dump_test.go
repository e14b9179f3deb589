package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/shared/driver/ledger"
)

// TestLinesReadBack: Lines returns what Append wrote, with any texts.
func TestLinesReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9:|,"\\{}\n]{0,20}`))
		some := rapid.StringMatching(`[a-z_]{1,8}`)
		value := rapid.OneOf(rapid.Map(text, func(s string) any {
			return s
		}), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
			rapid.Map(rapid.SliceOf(text), func(l []string) any { return append([]string{}, l...) }),
			rapid.Map(rapid.SliceOfN(text, 1, 4), func(l []string) any { return ledger.Set(l) }))
		want := rapid.SliceOf(rapid.Custom(func(t *rapid.T) record.Line {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				return record.Line{Now: rapid.Int64().Draw(t, "now")}
			case 1:
				return record.Line{Table: some.Draw(t, "table"), Row: rapid.MapOf(some, value).Draw(t, "row")}
			case 2:
				return record.Line{Key: some.Draw(t, "key"), Field: text.Draw(t, "field"), Value: text.Draw(t, "value")}
			case 3:
				return record.Line{Queue: some.Draw(t, "queue"), Depth: record.Depth{Visible: 1, InFlight: 2,
					Delayed: 3, Parked: rapid.IntRange(0, 1e6).Draw(t, "parked")}}
			case 4:
				return record.Line{Missing: some.Draw(t, "missing"), Why: text.Draw(t, "why")}
			default:
				return record.Line{End: some.Draw(t, "end"), Count: rapid.Int().Draw(t, "count")}
			}
		})).Draw(t, "lines")
		var b []byte
		for i := range want {
			b = want[i].Append(b)
		}
		got := []record.Line{}
		if err := record.Lines(bytes.NewReader(b), func(l *record.Line) error {
			got = append(got, *l)
			return nil
		}); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, b)
		}
	})
}

func TestBadLinesAreRefusedByNumber(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"{", "x", `{"now":}`, `{"now":1.5}`,
		`{"table":"units","row":{"a":true}}`, `{"table":"units","row":{"a":"b}}`,
		`{"table":"units","row":{"a":["b",]}}`, `{"unknown":"x"}`, `{"key":"\q"}`, `{"now" 1}`, `{"key":"a\`} {
		err := record.Lines(strings.NewReader(`{"now":1}`+"\n"+bad+"\n"), func(*record.Line) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
