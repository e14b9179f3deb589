package functions_test

import (
	"testing"
)

// TestRepairFunctionOfAnOperator checks that it erases a user's addresses, logs who requested it for whom,
// independent of LOG_LEVEL, and refuses every other event.
func TestRepairFunctionOfAnOperator(t *testing.T) {
	w := newDeployment(t)
	f := w.start(t, "repair", "LOG_LEVEL", "error")
	operators := staff(f)
	if done, err := operators.Erase(t.Context(), "1001", ""); err != nil || done.Next != "" {
		t.Errorf("erase: %+v, %v", done, err)
	}
	if out, err := f.Invoke([]byte(`{"operate":{"command":"erase","who":"a","user":"1001"}}`)); err == nil ||
		out != nil {
		t.Errorf("an event of another kind: %s, want an error", out)
	}
	for _, want := range []string{`"command":"erase","user":"1001","orders":0,"erased":0,"result":"unchanged"`,
		operators.Who, `"msg":"event refused"`} {
		if !f.Says(want) {
			t.Errorf("the function's log has no %s:\n%s", want, f.Output())
		}
	}
}
