// Command play plays seeds of the simulator in order until one shows a violation, and prints its observations as
// JSON. proof/sim/mutants builds it with every mutant as a switch, and starts it once per mutant.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/your-org/seckill/proof/sim/mutants/on"
)

// Limits above which a mutant counts as a hang. A seed of the unmutated system takes about 10 ms and 50 MB.
const (
	seedTime = 30 * time.Second
	maxHeap  = 2 << 30 // bytes
	lookEach = 100 * time.Millisecond
)

func main() {
	from := flag.Uint64("from", 1, "first seed")
	seeds := flag.Uint64("seeds", 1, "how many seeds")
	flag.Parse()
	r := runner{began: time.Now()}
	go r.watch()
	for seed := *from; seed < *from+*seeds; seed++ {
		r.start(seed)
		if check, detail := play(seed); check != "" {
			r.end(check, detail)
		}
	}
	r.end("", "")
}

// runner knows the current seed, for the report when the process ends.
type runner struct {
	mu     sync.Mutex
	began  time.Time // when the current seed began
	result on.Result
}

func (r *runner) start(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = time.Now()
	r.result.Seed = seed
	r.result.Seeds++
}

// end prints the result, once, and ends the process.
func (r *runner) end(check, detail string) {
	r.mu.Lock()
	r.result.Check, r.result.Detail = check, detail
	if err := json.NewEncoder(os.Stdout).Encode(r.result); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// watch ends the process if a seed does not end.
func (r *runner) watch() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(lookEach) {
		r.mu.Lock()
		age := time.Since(r.began)
		r.mu.Unlock()
		if age > seedTime {
			r.end("hang", fmt.Sprintf("the seed goes on after %s", seedTime))
		}
		if metrics.Read(heap); heap[0].Value.Uint64() > maxHeap {
			r.end("hang", fmt.Sprintf("the seed fills %d bytes of memory", maxHeap))
		}
	}
}
