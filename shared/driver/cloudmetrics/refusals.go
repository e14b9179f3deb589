package cloudmetrics

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/your-org/seckill/shared/seckill"
)

const kept = 455 * 24 * time.Hour // of hours

// Refusals are the requests that a stack refused in a time, by reason.
type Refusals struct {
	From, Until time.Time // in whole periods, so at least the time that was asked for
	Requests    map[seckill.Reason]int
}

// Refused counts the requests that the functions buy and admit of a stack refused in a time. CloudWatch keeps minutes
// for 15 days, five minutes for 63, hours for 455 ("PutMetricData", Amazon CloudWatch API Reference): of what began
// earlier nothing is known, which is an error.
func Refused(ctx context.Context, cfg aws.Config, now time.Time, stack string, from, until time.Time) (Refusals,
	error) {
	if now.Sub(from) > kept {
		return Refusals{}, fmt.Errorf("cloudmetrics: it began before the %d days that CloudWatch keeps",
			kept/(24*time.Hour))
	}
	step := periodOf(now.Sub(from), until.Sub(from))
	out := Refusals{From: from.Truncate(step), Until: until.Add(step - 1).Truncate(step),
		Requests: map[seckill.Reason]int{}}
	in := cloudwatch.GetMetricDataInput{StartTime: &out.From, EndTime: &out.Until}
	of := map[string]seckill.Reason{}
	eachRefusal(func(reason seckill.Reason, by []types.Dimension) {
		q := asked(len(of), stack, refusals, "Sum", step, by)
		of[*q.Id] = reason
		in.MetricDataQueries = append(in.MetricDataQueries, q)
	})
	for pages := cloudwatch.NewGetMetricDataPaginator(cloudwatch.NewFromConfig(cfg), &in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Refusals{}, fmt.Errorf("cloudmetrics: %w", err)
		}
		for _, result := range page.MetricDataResults {
			for _, n := range result.Values {
				out.Requests[of[aws.ToString(result.Id)]] += int(n)
			}
		}
	}
	return out, nil
}

// periodOf returns the finest period that CloudWatch still has of something that began this long ago, and that it tells
// in few answers of something this long.
func periodOf(ago, long time.Duration) time.Duration {
	const day = 24 * time.Hour
	switch {
	case ago < 15*day && long <= day:
		return time.Minute
	case ago < 63*day && long <= 7*day:
		return 5 * time.Minute
	}
	return time.Hour
}
