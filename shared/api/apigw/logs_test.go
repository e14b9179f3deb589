package apigw_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/shared/api/apigw"
)

// logsEvent is what CloudWatch Logs sends.
func logsEvent(t *testing.T, text io.Reader) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return `{"awslogs":{"data":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}}`
}

// TestLogs: lines are passed on together; what is neither a line nor an event of logs is not; an error fails the batch.
func TestLogs(t *testing.T) {
	t.Parallel()
	data := `{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"/aws/lambda/s-buy","logStream":"x",` +
		`"subscriptionFilters":["f"],"logEvents":[{"id":"e1","timestamp":1,"message":"{\"a\":1}\n"},` +
		`{"id":"e2","timestamp":2,"message":"b"}]}`
	fault := errors.New("no answer")
	for name, c := range map[string]struct {
		event    string
		fault    error
		lines    []apigw.LogLine
		operator bool
		want     string // in the error
	}{
		"lines": {logsEvent(t, strings.NewReader(data)), nil, []apigw.LogLine{{"e1", "{\"a\":1}\n"}, {"e2", "b"}},
			false, ""},
		"a fault": {logsEvent(t, strings.NewReader(data)), fault, []apigw.LogLine{{"e1", "{\"a\":1}\n"}, {"e2", "b"}},
			false, "no answer"},
		"a test of the way": {logsEvent(t, strings.NewReader(strings.Replace(data, "DATA", "CONTROL", 1))), nil, nil,
			false, ""},
		"an operator":    {`{"operator":{}}`, nil, nil, true, ""},
		"no JSON":        {`x`, nil, nil, false, "not an event of Lambda"},
		"not packed":     {`{"awslogs":{"data":"e30="}}`, nil, nil, false, "not an event of CloudWatch Logs"},
		"no base64":      {`{"awslogs":{"data":"?"}}`, nil, nil, false, "not an event of CloudWatch Logs"},
		"packed no JSON": {logsEvent(t, strings.NewReader("x")), nil, nil, false, "not an event of CloudWatch Logs"},
		"a bomb":         {logsEvent(t, io.LimitReader(zeros{}, 17<<20)), nil, nil, false, "a part is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []apigw.LogLine
			asked := false
			h := apigw.LogsOr(func(_ context.Context, list []apigw.LogLine) error {
				got = list
				return c.fault
			}, func(context.Context, []byte) ([]byte, error) {
				asked = true
				return []byte("{}"), nil
			}, quiet)
			out, err := h(t.Context(), []byte(c.event))
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) ||
				asked != c.operator {
				t.Errorf("%s, %v, operator: %v; want %q", out, err, asked, c.want)
			}
			if diff := cmp.Diff(c.lines, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
