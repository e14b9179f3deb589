package cloudmetrics_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/your-org/seckill/shared/driver/cloudmetrics"
	"github.com/your-org/seckill/shared/fake/memory"
)

var now = time.Date(2026, 11, 11, 2, 0, 30, 0, time.UTC)

// cloud answers GetMetricData: values by the name of a metric and its dimensions, and the minutes before now that they
// are of.
type cloud struct {
	t      *testing.T
	data   map[string][]point
	refuse bool
	asked  []string
	period int // seconds
}

type point struct {
	ago   int // minutes before the full minute
	value float64
}

// RoundTrip implements http.RoundTripper.
func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	v, err := cbor.Decode(b)
	if err != nil {
		return nil, err
	}
	in := v.(cbor.Map)
	header := http.Header{"Smithy-Protocol": {"rpc-v2-cbor"}, "Content-Type": {"application/cbor"}}
	if c.refuse {
		body := cbor.Encode(cbor.Map{"__type": cbor.String("AccessDeniedException"), "message": cbor.String("no")})
		return &http.Response{StatusCode: 403, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, nil
	}
	var results cbor.List
	c.asked = nil
	for _, q := range in["MetricDataQueries"].(cbor.List) {
		q := q.(cbor.Map)
		stat := q["MetricStat"].(cbor.Map)
		metric := stat["Metric"].(cbor.Map)
		c.period = int(stat["Period"].(cbor.Uint))
		name := string(metric["MetricName"].(cbor.String))
		for _, d := range metric["Dimensions"].(cbor.List) {
			name += " " + string(d.(cbor.Map)["Value"].(cbor.String))
		}
		c.asked = append(c.asked, string(metric["Namespace"].(cbor.String))+" "+name)
		result := cbor.Map{"Id": q["Id"], "Timestamps": cbor.List{}, "Values": cbor.List{}}
		for _, p := range c.data[name] {
			at := now.Truncate(time.Minute).Add(-time.Duration(p.ago) * time.Minute)
			result["Timestamps"] = append(result["Timestamps"].(cbor.List),
				&cbor.Tag{ID: 1, Value: cbor.Float64(at.Unix())})
			result["Values"] = append(result["Values"].(cbor.List), cbor.Float64(p.value))
		}
		results = append(results, result)
	}
	body := cbor.Encode(cbor.Map{"MetricDataResults": results})
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

func reader(c *cloud) *cloudmetrics.Reader {
	return cloudmetrics.New(aws.Config{Region: "eu-west-1", HTTPClient: &http.Client{Transport: c},
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, memory.NewClock(now), "shop",
		map[string]string{"orders": "shop-Orders-X"})
}

// TestRead: sums are of the hour, the others of the newest minute that has a figure, and minutes that have none yet are
// left out.
func TestRead(t *testing.T) {
	c := &cloud{t: t, data: map[string][]point{
		"Count shop live":        {{60, 5}, {4, 10}, {3, 660}, {2, 1320}},
		"Invocations shop-admin": {{4, 30}, {3, 60}, {2, 120}}, "5XXError shop live": {{3, 2}},
		"Invocations shop-buy": {{3, 300}, {2, 900}}, "Duration shop-buy": {{3, 12.5}, {2, 40}},
		"IteratorAge shop-tell": {{9, 900}, {8, 1500}}, "ApproximateAgeOfOldestMessage shop-Orders-X": {{3, 9}, {2, 4}},
		"drift repair": {{50, 1}, {3, 2}}, "unknown_payments expire": {{9, 50}, {2, 3}},
		"unknown_payments refund": {{2, 1}}, "refusals buy sold_out": {{3, 100}, {2, 700}},
		"refusals admit ticket_expired": {{2, 1}}}}
	m, err := reader(c).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Requests != 1805 || m.Presses != 1200 || m.Errors != 2 || m.PerSecond != 20 || *m.P99 != 40 ||
		*m.Lag != 1500 || !m.LagAt.Equal(now.Truncate(time.Minute).Add(-8*time.Minute)) || m.Age["orders"] != 4 ||
		m.Drift != 3 || m.Unknown != 4 ||
		m.Refusals["sold_out"] != 800 || m.Refusals["ticket_expired"] != 1 ||
		!m.Since.Equal(now.Truncate(time.Minute).Add(-time.Hour)) {
		t.Errorf("%+v", m)
	}
	if len(m.Minutes) != 59 {
		t.Fatalf("%d minutes", len(m.Minutes))
	}
	last := m.Minutes[58]
	if want := now.Truncate(time.Minute).Add(-2 * time.Minute); !last.Minute.Equal(want) || last.Presses != 900 ||
		last.Refused != 701 || last.Requests != 1200 || last.Unknown != 4 || *last.P99 != 40 {
		t.Errorf("newest minute %+v", last)
	}
	if len(c.asked) > 500 || !slices.Contains(c.asked, "shop refusals admit ticket_expired") {
		t.Errorf("%d metrics: %q", len(c.asked), c.asked) // GetMetricData takes 500
	}
	t.Log(len(c.asked), "metrics")
}

// TestRefused: refused requests of a sale are added up by reason over both functions, in whole periods.
func TestRefused(t *testing.T) {
	c := &cloud{t: t, data: map[string][]point{"refusals buy sold_out": {{3, 100}, {2, 700}},
		"refusals admit sold_out": {{2, 1}}, "refusals admit ticket_expired": {{2, 4}}}}
	cfg := aws.Config{Region: "eu-west-1", HTTPClient: &http.Client{Transport: c},
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	for _, tt := range []struct {
		ago, long, step time.Duration
	}{{time.Hour, 10 * time.Minute, time.Minute}, {20 * 24 * time.Hour, time.Hour, 5 * time.Minute},
		{48 * time.Hour, 30 * time.Hour, 5 * time.Minute}, {70 * 24 * time.Hour, time.Minute, time.Hour}} {
		from := now.Add(-tt.ago)
		r, err := cloudmetrics.Refused(t.Context(), cfg, now, "shop", from, from.Add(tt.long))
		if err != nil || r.Requests["sold_out"] != 801 || r.Requests["ticket_expired"] != 4 ||
			r.From.After(from) || r.Until.Before(from.Add(tt.long)) || !r.From.Equal(from.Truncate(tt.step)) ||
			r.Until.Sub(r.From)%tt.step != 0 || r.Until.Sub(r.From) >= tt.long+2*tt.step ||
			c.period != int(tt.step.Seconds()) {
			t.Errorf("%v: %+v, period of %d s, %v", tt, r, c.period, err)
		}
	}
	from := now.Add(-456 * 24 * time.Hour)
	if r, err := cloudmetrics.Refused(t.Context(), cfg, now, "shop", from, from.Add(time.Hour)); err == nil {
		t.Errorf("CloudWatch knows nothing any more, and the answer is %+v", r)
	}
	c.refuse = true
	if _, err := cloudmetrics.Refused(t.Context(), cfg, now, "shop", now, now); err == nil {
		t.Error("no error")
	}
}

// TestReadFails: an error names the reason and nothing secret.
func TestReadFails(t *testing.T) {
	if _, err := reader(&cloud{t: t, refuse: true}).Read(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "AccessDenied") {
		t.Error(err)
	}
}
