// Command picklist is an example of a system that reads a shop's webhooks: it writes the list of what the warehouse has
// to pick, as CSV. A line appears when an order is paid and vanishes when its money has to go back.
//
// It uses nothing but the standard library, to show all that a reader has to do: verify the signature, drop what it
// has, sort what came too early, keep an event before acknowledging it.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxBody  = 64 << 10        // bytes of an event
	maxEarly = 100             // events of an order that wait for an earlier event
	maxSkew  = 5 * time.Minute // between the sender's clock and ours: an older post may be a replay by somebody else
)

// event is what the pick list needs of a CloudEvent (docs/events/order.v1.json).
type event struct {
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	Data struct {
		Order    string `json:"order"`
		Sequence int    `json:"sequence"`
		Item     string `json:"item"`
		Title    string `json:"title"`
		Count    int    `json:"count"`
	} `json:"data"`
}

// order is what is known of one order.
type order struct {
	seen  int           // events applied, from the first on
	early map[int]event // events that wait for an event before them
	paid  *event        // its line in the list
}

// list is the pick list. Its journal has every event that was acknowledged, so that nothing is lost with the process.
type list struct {
	keys    [][]byte
	now     func() time.Time
	csv     string
	journal *os.File

	mu     sync.Mutex
	orders map[string]*order
}

// open reads the journal. secrets are whsec_ and base64, separated by spaces.
func open(csvFile, secrets string) (*list, error) {
	l := &list{now: time.Now, csv: csvFile, orders: map[string]*order{}}
	for _, s := range strings.Fields(secrets) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New("a secret is not whsec_ and base64")
		}
		l.keys = append(l.keys, key)
	}
	if len(l.keys) == 0 {
		return nil, errors.New("WEBHOOK_SECRET is missing")
	}
	var err error
	if l.journal, err = os.OpenFile(csvFile+".events", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(l.journal)
	lines.Buffer(nil, 2*maxBody)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) == nil { // a line cut off by a kill was not acknowledged
			l.apply(e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if _, err := l.journal.WriteString("\n"); err != nil { // ends a line that was cut off
		return nil, err
	}
	return l, l.write()
}

// ServeHTTP takes one webhook. Any answer but 2xx makes the shop post the event again.
func (l *list) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "want a POST of at most 64 KB", http.StatusBadRequest)
		return
	}
	if !l.authentic(r.Header, body) {
		http.Error(w, "wrong signature", http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil || e.Data.Order == "" || e.Data.Sequence < 1 {
		http.Error(w, "not an event of an order", http.StatusBadRequest)
		return
	}
	if err := l.keep(e, body); err != nil {
		log.Print(err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// authentic verifies a signature as Standard Webhooks has it: HMAC-SHA256 of id, time and body, in base64, by any of
// our secrets, among any number of signatures.
func (l *list) authentic(h http.Header, body []byte) bool {
	id, stamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || l.now().Sub(time.Unix(seconds, 0)).Abs() > maxSkew {
		return false
	}
	for _, signature := range strings.Fields(h.Get("Webhook-Signature")) {
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1,"))
		if err != nil || !strings.HasPrefix(signature, "v1,") {
			continue
		}
		for _, key := range l.keys {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(id + "." + stamp + "."))
			mac.Write(body)
			if hmac.Equal(got, mac.Sum(nil)) {
				return true
			}
		}
	}
	return false
}

// keep writes an event to the journal and then to the list, unless it is known.
func (l *list) keep(e event, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.orders[e.Data.Order]; o != nil {
		_, waits := o.early[e.Data.Sequence]
		if waits || e.Data.Sequence <= o.seen {
			return nil
		}
		if len(o.early) == maxEarly {
			return fmt.Errorf("order %s: too many events wait for number %d", e.Data.Order, o.seen+1)
		}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		return err
	}
	line.WriteByte('\n')
	if _, err := l.journal.Write(line.Bytes()); err != nil {
		return err
	}
	if l.apply(e) {
		return l.write()
	}
	return nil
}

// apply applies an event and the events that waited for it, in their order. It reports whether a line has changed.
func (l *list) apply(e event) (changed bool) {
	o := l.orders[e.Data.Order]
	if o == nil {
		o = &order{early: map[int]event{}}
		l.orders[e.Data.Order] = o
	}
	o.early[e.Data.Sequence] = e
	for {
		next, ok := o.early[o.seen+1]
		if !ok {
			return changed
		}
		o.seen++
		delete(o.early, o.seen)
		switch next.Type {
		case "order.paid":
			o.paid, changed = &next, true
		case "order.refund_due":
			o.paid, changed = nil, true
		}
	}
}

// write replaces the CSV file by the list as it is, in the order of payment. An example may write all of it each time.
func (l *list) write() error {
	var paid []*event
	for _, o := range l.orders {
		if o.paid != nil {
			paid = append(paid, o.paid)
		}
	}
	slices.SortFunc(paid, func(a, b *event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Data.Order, b.Data.Order))
	})
	rows := [][]string{{"order", "item", "title", "count", "paid"}}
	for _, e := range paid {
		item := e.Data.Item
		if len(item) > 11 { // a number that a spreadsheet would shorten
			item = text(item)
		}
		rows = append(rows, []string{e.Data.Order, item, text(e.Data.Title), strconv.Itoa(e.Data.Count),
			e.Time.Format(time.RFC3339)})
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	if err := os.WriteFile(l.csv+".new", b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(l.csv+".new", l.csv)
}

// text keeps a spreadsheet from taking a cell for a formula, a number or a date: with a ' before it.
func text(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); cell == "" || unicode.IsLetter(first) {
		return cell
	}
	return "'" + cell
}

func main() {
	addr := flag.String("listen", "127.0.0.1:8200", "address to listen on; beyond this machine, put TLS in front")
	file := flag.String("csv", "picklist.csv", "file of the pick list; its journal stands beside it")
	flag.Parse()
	// the default secret of seckill run, so that the two find each other
	secret := cmp.Or(os.Getenv("WEBHOOK_SECRET"), "whsec_c2Vja2lsbC1sb2NhbC1ydW4taGFzLW5vLXNlY3JldHM=")
	l, err := open(*file, secret)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: *addr, Handler: l, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		MaxHeaderBytes: 16 << 10}
	log.Printf("webhooks at http://%s/, pick list in %s", *addr, *file)
	log.Fatal(server.ListenAndServe())
}
