package operator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/redisstock"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/flow/sale/stage"
	"github.com/your-org/seckill/shared/seckill"
)

// TestWhoSeesAnswers: editors, who may change them, whatever else they are; everybody else sees the question alone.
func TestWhoSeesAnswers(t *testing.T) {
	t.Parallel()
	clock, items := memory.NewClock(officeNow), memory.NewItems()
	l := ledger.New(memory.NewRows(memory.RowsOptions{Clock: clock}))
	it := seckill.Item{ID: "7", Price: 100, Start: officeNow.Add(time.Hour), End: officeNow.Add(2 * time.Hour),
		Stock: 1, Limit: 1, Buckets: 16, CreateTime: officeNow, Version: 1, Checks: seckill.ChecksStrict,
		Commodity: seckill.Commodity{ID: "7", Title: "表", Price: 200, CreateTime: officeNow}}
	q := seckill.Question{ID: seckill.QuestionID(1), Text: "capital", Answers: []string{"s3cret"}}
	must.OK(t, l.PutQuestion(t.Context(), "7", q))
	must.OK(t, items.Put(t.Context(), it, &seckill.Description{}))
	handler := NewItemHandler(stage.New(stage.Deps{Stock: redisstock.New(memory.NewRedis()), Items: items, Clock: clock,
		Questions: l, Activities: l, Blocks: l}))
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	public, _ := key.Public().(ed25519.PublicKey)
	silent := slog.New(slog.DiscardHandler)
	office := &Office{Stack: officeStack, Clock: clock, Key: func() ed25519.PrivateKey { return key },
		Invoke: func(ctx context.Context, function string, event []byte) ([]byte, error) {
			return ServeSigned(silent, &Verifier{Stack: officeStack, Function: function, Clock: clock,
				Keys: func() []ed25519.PublicKey { return []ed25519.PublicKey{public} }}, handler)(ctx, event)
		}}
	who := [][]seckill.Role{seckill.Roles(), {seckill.RoleViewer, seckill.RoleEditor},
		{seckill.RoleFinance, seckill.RoleAuditor, seckill.RoleOperator}}
	for _, role := range seckill.Roles() {
		who = append(who, []seckill.Role{role})
	}
	for _, body := range []string{`{"operator":{"command":"export"}}`, `{"operator":{"command":"item","item":"7"}}`} {
		for _, roles := range who {
			status, answer := office.Do(t.Context(), Caller{Who: officeARN, Roles: roles}, []byte(body))
			sees := slices.Contains(roles, seckill.RoleEditor)
			if status != http.StatusOK || !strings.Contains(string(answer), "capital") ||
				strings.Contains(string(answer), "s3cret") != sees || strings.Contains(string(answer), `"answers"`) != sees {
				t.Errorf("roles %v, %s: %d %s", roles, body, status, answer)
			}
		}
		answer, err := Serve(silent, handler)(t.Context(), []byte(strings.Replace(body, `"command"`,
			`"who":"me","command"`, 1)))
		if err != nil || !strings.Contains(string(answer), "s3cret") {
			t.Errorf("the machine's owner, %s: %s, %v", body, answer, err)
		}
	}
}
