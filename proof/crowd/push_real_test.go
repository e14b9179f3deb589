//go:build real

package crowd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/proof/crowd"
	"github.com/your-org/seckill/shared/fake/redistest"
	"github.com/your-org/seckill/shared/seckill"
)

// crowdVariable has a child's job as JSON.
const crowdVariable = "SECKILL_TEST_CROWD"

// crowdJob is what a crowd in a process of its own does.
type crowdJob struct{ URL, Item, Mode string }

const pageUnits = 2000

// init makes the test's program a crowd if it is told so.
func init() {
	text := os.Getenv(crowdVariable)
	if text == "" {
		return
	}
	var job crowdJob
	polls, err := 0, json.Unmarshal([]byte(text), &job)
	if err == nil {
		polls, err = job.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(polls)
	os.Exit(0)
}

// run sends the crowd until every unit is placed, and returns how often its pages asked for an order.
func (j *crowdJob) run() (polls int, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	o := options(j.URL)
	o.Item, o.Shoppers, o.Secret, o.NoPush = j.Item, pageUnits, local.DefaultSecret, j.Mode != "push"
	o.Connections, o.Ramp, o.Abandon = 64, 500*time.Millisecond, 1
	o.Watch = func(p crowd.Progress) {
		if p.Placed == pageUnits {
			stop()
		}
	}
	if j.Mode == "quiet" {
		o.Patience = 0
	}
	rep, err := crowd.Run(ctx, o)
	return rep.Push.Polls, err
}

// BenchmarkRealPages compares, in turn in one run, sales of 2,000 units on real servers: to shoppers who leave at once
// ("quiet"), to pages that hear of their orders, and to pages that poll. "of-quiet" is a rate divided by the first one.
// The crowd is a process of the lowest priority: what it does, shoppers' phones do in a real sale. Still it takes
// processors from shop and servers, and more of them where pages are open. "cpu-of-quiet" leaves that out: orders per
// second of processor time of everything but the crowd, divided by those of the first one. Nothing else may run on this
// machine meanwhile.
func BenchmarkRealPages(b *testing.B) {
	redis := redistest.Start(b)
	sum := map[string]*pagesRun{}
	for b.Loop() {
		for _, mode := range []string{"quiet", "push", "polls"} {
			r := pagesOf(b, redis.Addr, mode)
			if sum[mode] == nil {
				sum[mode] = &pagesRun{}
			}
			sum[mode].took += r.took
			sum[mode].cpu += r.cpu
			sum[mode].polls += r.polls
		}
	}
	quiet := sum["quiet"]
	for mode, r := range sum {
		placed := float64(b.N * pageUnits)
		b.ReportMetric(placed/r.took.Seconds(), mode+"/s")
		b.ReportMetric(quiet.took.Seconds()/r.took.Seconds(), mode+"-of-quiet")
		b.ReportMetric(quiet.cpu.Seconds()/r.cpu.Seconds(), mode+"-cpu-of-quiet")
		b.ReportMetric(float64(r.polls)/placed, mode+"-asks")
	}
	b.ReportMetric(0, "ns/op")
}

// pagesRun is what one sale took.
type pagesRun struct {
	took  time.Duration // from the first row to the last
	cpu   time.Duration // of shop and servers
	polls int           // how often pages asked for an order
}

// cpuTime returns the sum of a file's fields in time: Linux counts processor time in hundredths of a second.
func cpuTime(b *testing.B, file, after string, at ...int) (sum time.Duration) {
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line[strings.LastIndex(line, after)+len(after):])
	for _, i := range at {
		n, err := strconv.Atoi(f[i])
		if err != nil {
			b.Fatal(line, err)
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// busy returns the processor time that the whole machine has used since it started, without one process's.
func busy(b *testing.B, process int) time.Duration {
	return cpuTime(b, "/proc/stat", "cpu ", 0, 1, 2, 5, 6) - // user nice system idle iowait irq softirq
		cpuTime(b, fmt.Sprintf("/proc/%d/stat", process), ") ", 11, 12) // utime stime, fields 14 and 15
}

// pagesOf sells all units.
func pagesOf(b *testing.B, redis, mode string) (r pagesRun) {
	items := local.DemoItems(time.Now(), pageUnits, 1)[:2]
	items[1].ID = strconv.FormatInt(time.Now().UnixNano(), 10) // servers keep what earlier runs sold
	items[1].Start = time.Now().Add(-time.Second).Truncate(time.Second)
	sys, err := local.New(local.Options{Addr: ":0", Items: items, Servers: local.Servers{
		Redis: []string{redis}, DynamoDB: os.Getenv("SECKILL_TEST_DYNAMODB")}, Keys: b.TempDir()})
	if err == nil {
		err = sys.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(crowdJob{sys.URL(), items[1].ID, mode})
	if err != nil {
		b.Fatal(err)
	}
	child := exec.CommandContext(b.Context(), "nice", "-n", "19", os.Args[0])
	child.Env = append(os.Environ(), crowdVariable+"="+string(text))
	child.Stderr = os.Stderr
	var out bytes.Buffer
	child.Stdout = &out
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	before := busy(b, child.Process.Pid)
	var began time.Time
	end := time.Now().Add(2 * time.Minute)
	for n := 0; n < pageUnits && b.Context().Err() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) { // the machine is too busy: shoppers have left whose requests failed
			b.Fatalf("%s: %d of %d units were placed", mode, n, pageUnits)
		}
		if n = sys.Meter.Counts()[seckill.EventPlaced]; n > 0 && began.IsZero() {
			began = time.Now()
		}
	}
	r.took, r.cpu = time.Since(began), busy(b, child.Process.Pid)-before
	if mode == "quiet" { // else the crowd would wait until all orders are closed
		_ = child.Process.Kill()
		_ = child.Wait()
	} else if err := child.Wait(); err != nil {
		b.Fatal(err)
	} else if r.polls, err = strconv.Atoi(strings.TrimSpace(out.String())); err != nil {
		b.Fatal(err)
	}
	if err := sys.Close(context.Background()); err != nil {
		b.Log(err)
	}
	return r
}
