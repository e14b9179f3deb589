// Package cloudmetrics reads a stack's metrics of the last hour from CloudWatch, for the live screen. In: a stack's
// name and its queues. Out: sums, and a figure for each minute. It makes one call, which CloudWatch bills by the number
// of metrics: about a hundred.
//
// Metrics come a minute or two late, so the newest minutes may be missing. Those of AWS's own services are counted for
// the whole stack, not for an item.
package cloudmetrics

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	period = time.Minute
	span   = seckill.LiveMinutes * period
	stage  = "live" // the API's stage
)

// refusing are the steps whose refusals are read: the steps behind the shoppers' buttons.
var refusing = []string{"buy", "admit"}

const refusals = "refusals" // the metric of them

// Reader reads metrics. It is safe for concurrent use.
type Reader struct {
	client  *cloudwatch.Client
	clock   seckill.Clock
	queries []query
}

// query is one metric, and what its figures are added to.
type query struct {
	types.MetricDataQuery
	add func(*reading, *seckill.LiveMinute, float64)
}

// reading is what an answer says. Times ascend, so that the newest figure of a metric comes last.
type reading struct {
	seckill.LiveMetrics
	minutes [seckill.LiveMinutes]seckill.LiveMinute
	newest  int // the newest of minutes that has a figure; -1 if there is none
}

// New returns a reader of a stack's metrics; queues are the names of its queues by the names that the screen shows.
func New(cfg aws.Config, clock seckill.Clock, stack string, queues map[string]string) *Reader {
	r := &Reader{client: cloudwatch.NewFromConfig(cfg), clock: clock}
	api := dimensions("ApiName", stack, "Stage", stage)
	buy := dimensions("FunctionName", stack+"-buy")
	r.query("AWS/ApiGateway", "Count", "Sum", api, func(_ *reading, m *seckill.LiveMinute, n float64) {
		m.Requests += int(n)
	})
	// The back office's requests are in Count, too: live screens ask each second.
	r.query("AWS/Lambda", "Invocations", "Sum", dimensions("FunctionName", stack+"-admin"),
		func(_ *reading, m *seckill.LiveMinute, n float64) { m.Requests -= int(n) })
	r.query("AWS/ApiGateway", "5XXError", "Sum", api, func(to *reading, m *seckill.LiveMinute, n float64) {
		m.Errors, to.Errors = int(n), to.Errors+int(n)
	})
	r.query("AWS/Lambda", "Invocations", "Sum", buy, func(to *reading, m *seckill.LiveMinute, n float64) {
		m.Presses, to.Presses = int(n), to.Presses+int(n)
	})
	r.query("AWS/Lambda", "Duration", "p99", buy, func(_ *reading, m *seckill.LiveMinute, ms float64) { m.P99 = &ms })
	r.query("AWS/Lambda", "IteratorAge", "Maximum", dimensions("FunctionName", stack+"-tell"),
		func(to *reading, m *seckill.LiveMinute, ms float64) { to.Lag, to.LagAt = &ms, m.Minute })
	for shown, name := range queues {
		r.query("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", dimensions("QueueName", name),
			func(to *reading, _ *seckill.LiveMinute, seconds float64) { to.Age[shown] = int(seconds) })
	}
	r.query(stack, string(seckill.EventDrift), "Sum", dimensions("step", "repair"),
		func(to *reading, _ *seckill.LiveMinute, n float64) { to.Drift += int(n) })
	for _, step := range []string{"expire", "refund"} {
		r.query(stack, string(seckill.EventUnknown), "Sum", dimensions("step", step),
			func(_ *reading, m *seckill.LiveMinute, n float64) { m.Unknown += int(n) })
	}
	eachRefusal(func(reason seckill.Reason, of []types.Dimension) {
		r.query(stack, refusals, "Sum", of, func(to *reading, m *seckill.LiveMinute, n float64) {
			m.Refused += int(n)
			to.Refusals[reason] += int(n)
		})
	})
	return r
}

func (r *Reader) query(namespace, name, stat string, of []types.Dimension,
	add func(*reading, *seckill.LiveMinute, float64)) {
	r.queries = append(r.queries, query{asked(len(r.queries), namespace, name, stat, period, of), add})
}

// asked returns the query number n of a call.
func asked(n int, namespace, name, stat string, each time.Duration, of []types.Dimension) types.MetricDataQuery {
	return types.MetricDataQuery{Id: aws.String(fmt.Sprintf("m%d", n)),
		MetricStat: &types.MetricStat{Stat: &stat, Period: aws.Int32(int32(each.Seconds())),
			Metric: &types.Metric{Namespace: &namespace, MetricName: &name, Dimensions: of}}}
}

// eachRefusal calls do with each reason for which each function may refuse, and with the metric's dimensions.
func eachRefusal(do func(reason seckill.Reason, of []types.Dimension)) {
	for _, step := range refusing {
		for _, reason := range seckill.Reasons() {
			do(reason, dimensions("step", step, "reason", string(reason)))
		}
	}
}

// dimensions returns names and values, which alternate.
func dimensions(pairs ...string) (out []types.Dimension) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, types.Dimension{Name: &pairs[i], Value: &pairs[i+1]})
	}
	return out
}

// Read reads the metrics of the last hour, up to the last full minute that has any.
func (r *Reader) Read(ctx context.Context) (seckill.LiveMetrics, error) {
	end := r.clock.Now().Truncate(period)
	from := end.Add(-span)
	to := reading{newest: -1, LiveMetrics: seckill.LiveMetrics{Since: from, Refusals: map[seckill.Reason]int{},
		Age: map[string]int{}}}
	for i := range to.minutes {
		to.minutes[i].Minute = from.Add(time.Duration(i) * period)
	}
	in := cloudwatch.GetMetricDataInput{StartTime: &from, EndTime: &end, ScanBy: types.ScanByTimestampAscending}
	of := map[string]*query{}
	for i := range r.queries {
		q := &r.queries[i]
		in.MetricDataQueries = append(in.MetricDataQueries, q.MetricDataQuery)
		of[*q.Id] = q
	}
	for pages := cloudwatch.NewGetMetricDataPaginator(r.client, &in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return seckill.LiveMetrics{}, fmt.Errorf("cloudmetrics: %w", err)
		}
		for _, result := range page.MetricDataResults {
			if q := of[aws.ToString(result.Id)]; q != nil {
				to.take(q, from, result.Timestamps, result.Values)
			}
		}
	}
	to.requests()
	to.SetMinutes(to.minutes[:to.newest+1])
	return to.LiveMetrics, nil
}

// requests adds up the minutes' requests. They are computed from two metrics, which may come at different times.
func (to *reading) requests() {
	for i := range to.minutes {
		m := &to.minutes[i]
		m.Requests = max(m.Requests, 0)
		to.Requests += m.Requests
		if i == to.newest {
			to.PerSecond = float64(m.Requests) / period.Seconds()
		}
	}
}

// take adds a metric's figures.
func (to *reading) take(q *query, from time.Time, at []time.Time, values []float64) {
	for i := range min(len(at), len(values)) {
		n := int(at[i].Sub(from) / period)
		if n < 0 || n >= len(to.minutes) {
			continue
		}
		to.newest = max(to.newest, n)
		q.add(to, &to.minutes[n], values[i])
	}
}

// NameOf returns a queue's name, the last part of its address.
func NameOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }
