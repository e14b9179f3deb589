package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	// childVariable makes this test's program the tool, with these arguments, or viewers, with an address and an item.
	childVariable = "SECKILL_TEST_CHILD"
	// crowdVariable is the number of shoppers; a twentieth as many units are on sale.
	crowdVariable = "SECKILL_TEST_SHOPPERS"

	viewers = 20
)

func init() {
	switch args := strings.Fields(os.Getenv(childVariable)); {
	case len(args) == 0:
	case args[0] == "viewers":
		fmt.Println(view(args[1], args[2]))
		os.Exit(0)
	default:
		os.Exit(run(context.Background(), args, io.Discard, os.Stderr, noEnv))
	}
}

// view watches an item's sale as pages of the back office do, until standard input ends. The viewers share a session: a
// person has a few at most. It says on standard error when it is signed in, and what the first fault was, and returns
// the numbers of answers and of faults.
func view(url, item string) (answers, faults int64) {
	over, end := context.WithCancel(context.Background())
	var got, failed atomic.Int64
	var all sync.WaitGroup
	jar, _ := cookiejar.New(nil) // never fails
	client := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	call := func(path, body string) ([]byte, error) {
		r, _ := http.NewRequestWithContext(over, http.MethodPost, url+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Seckill-Staff", "1")
		a, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err == nil && a.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", a.Status, text)
		}
		return text, err
	}
	var link struct{ Link string }
	text, err := call("/_local/staff-link", "{}")
	if err == nil {
		err = json.Unmarshal(text, &link)
	}
	if err == nil {
		var r *http.Response
		if r, err = client.Get(link.Link); err == nil {
			r.Body.Close()
		}
	}
	fmt.Fprintln(os.Stderr, "watching", err)
	for range viewers {
		all.Go(func() {
			for tick := time.NewTicker(time.Second); over.Err() == nil; <-tick.C {
				if _, err := call("/admin/commands", `{"operator":{"command":"live","item":"`+item+`"}}`); err == nil {
					got.Add(1)
				} else if failed.Add(1) == 1 {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	answers, faults = got.Load(), failed.Load() // what end interrupts is not a fault
	end()
	all.Wait()
	return answers, faults
}

// BenchmarkViewers compares, in turn in one run, sales to the crowd of `seckill load` with and without 20 viewers of
// the live screen: "more-percent" is how much more processor time the shop takes for a placed order. Crowd and viewers
// are processes of their own, which do not count. Five pairs: -benchtime 5x. Nothing else may run on this machine
// meanwhile.
func BenchmarkViewers(b *testing.B) {
	shoppers := 20_000
	if text := os.Getenv(crowdVariable); text != "" {
		var err error
		if shoppers, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	var spent [2]float64 // µs for an order, by whether it was watched
	var answers int64
	pairs := 0
	for b.Loop() {
		var pair [2]float64
		for turn := range 2 {
			watched := (turn + pairs) % 2 // who comes first is treated worse, or better
			us, seen := watchedSale(b, shoppers, watched == 1)
			pair[watched] = us
			answers += seen
		}
		pairs++
		b.Logf("pair %d: %.0f µs alone, %.0f µs watched, %+.1f %%", pairs, pair[0], pair[1], 100*(pair[1]/pair[0]-1))
		spent[0], spent[1] = spent[0]+pair[0], spent[1]+pair[1]
	}
	b.ReportMetric(spent[0]/float64(pairs), "µs/order-alone")
	b.ReportMetric(spent[1]/float64(pairs), "µs/order-watched")
	b.ReportMetric(100*(spent[1]/spent[0]-1), "more-percent")
	b.ReportMetric(float64(answers)/float64(pairs), "answers")
	b.ReportMetric(0, "ns/op")
}

// watchedSale plays one sale, and returns the shop's processor time for a placed order, and the viewers' answers.
func watchedSale(b *testing.B, shoppers int, watched bool) (us float64, answers int64) {
	items := local.DemoItems(time.Now(), max(shoppers/20, 1), 1)
	sys, err := local.New(local.Options{Addr: ":0", Items: items})
	if err == nil {
		err = sys.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := sys.Close(context.Background()); err != nil {
			b.Log(err)
		}
	}()
	var said bytes.Buffer
	watching := child(b, "viewers "+sys.URL()+" "+items[1].ID)
	watching.Stdout = &said
	var stop io.Closer
	if watched {
		stop = begin(b, watching)
	}
	before := system.Used().CPUSeconds
	load := child(b, fmt.Sprintf("load --shoppers %d --item %s --url %s --seed 1", shoppers, items[1].ID, sys.URL()))
	var told bytes.Buffer
	load.Stderr = &told
	if err := load.Run(); err != nil {
		b.Fatal(err, told.String())
	}
	spent := system.Used().CPUSeconds - before
	placed := sys.Meter.Counts()[seckill.EventPlaced]
	if placed == 0 {
		b.Fatal("nothing was placed")
	}
	if watched {
		_ = stop.Close()
		var faults int64
		err := watching.Wait()
		if _, scan := fmt.Sscan(said.String(), &answers, &faults); err != nil || scan != nil || faults > 0 ||
			answers < viewers {
			b.Fatalf("the viewers: %q, %v", &said, err)
		}
	}
	return spent * 1e6 / float64(placed), answers
}

// child returns this program as the tool or as viewers, with the lowest priority: what they do, other machines do in a
// real sale.
func child(b *testing.B, args string) *exec.Cmd {
	c := exec.CommandContext(b.Context(), "nice", "-n", "19", os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+args)
	return c
}

// begin starts viewers, and returns what ends them once all are signed in.
func begin(b *testing.B, c *exec.Cmd) io.Closer {
	stop, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = io.ReadFull(said, make([]byte, len("watching")))
	}
	if err != nil {
		b.Fatal(err)
	}
	go func() { _, _ = io.Copy(os.Stderr, said) }() // the first fault
	return stop
}
