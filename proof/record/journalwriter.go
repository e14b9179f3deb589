package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"
)

const (
	// maxWaiting bounds the unwritten entries to some 20 MB. A slower disk delays the shoppers.
	maxWaiting = 1 << 16
	chunk      = 128 << 10 // approximate bytes per write
)

// Writer writes a journal. It is safe for concurrent use; one goroutine of its own encodes, hashes and writes.
type Writer struct {
	began time.Time

	mu      sync.Mutex
	room    *sync.Cond // signalled when waiting was emptied
	some    *sync.Cond // signalled when waiting is no longer empty, or on Close
	waiting []Entry
	n       uint64
	end     End
	closed  bool

	done chan struct{}
	last string // this and err belong to the goroutine until done is closed
	err  error
}

// CreateJournal starts a journal on w. Its first line has the current time. Close ends its goroutine.
func CreateJournal(w io.Writer, s Start) *Writer {
	j := &Writer{began: time.Now(), done: make(chan struct{})}
	j.room, j.some = sync.NewCond(&j.mu), sync.NewCond(&j.mu)
	s.Time = j.began.UTC()
	go j.write(w)
	j.add(Entry{Kind: KindStart, Start: &s})
	return j
}

// Request records a request before it is sent, and returns its number for Answer.
func (j *Writer) Request(e Entry) uint64 {
	e.Kind = KindRequest
	return j.add(e)
}

// Answer records the answer to the request that e names, or that there was none.
func (j *Writer) Answer(e Entry) {
	e.Kind = KindAnswer
	j.add(e)
}

// Close writes the end and waits until all is written. It returns the first error of the underlying writer. The journal
// takes no entries afterwards.
func (j *Writer) Close(e End) error {
	j.mu.Lock()
	e.Requests, e.Answers = j.end.Requests, j.end.Answers
	j.mu.Unlock()
	j.add(Entry{Kind: KindEnd, End: &e})
	j.mu.Lock()
	j.closed = true
	j.some.Signal()
	j.mu.Unlock()
	<-j.done
	return j.err
}

// Last returns the hash of a closed journal's last line.
func (j *Writer) Last() string {
	<-j.done
	return j.last
}

// add numbers an entry and queues it.
func (j *Writer) add(e Entry) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.waiting) >= maxWaiting {
		j.room.Wait()
	}
	switch e.Kind {
	case KindRequest:
		j.end.Requests++
	case KindAnswer:
		j.end.Answers++
	}
	j.n++
	e.N, e.At = j.n, time.Since(j.began).Microseconds()
	j.waiting = append(j.waiting, e)
	if len(j.waiting) == 1 {
		j.some.Signal()
	}
	return e.N
}

// write writes queued entries in batches until the journal is closed. After an error it discards them, so that callers
// do not block.
func (j *Writer) write(w io.Writer) {
	defer close(j.done)
	var batch []Entry
	var out []byte
	for {
		j.mu.Lock()
		for len(j.waiting) == 0 && !j.closed {
			j.some.Wait()
		}
		batch, j.waiting = j.waiting, batch[:0]
		j.room.Broadcast()
		j.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i := range batch {
			from := len(out)
			out = appendEntry(out, &batch[i], j.last)
			sum := sha256.Sum256(out[from:])
			j.last = hex.EncodeToString(sum[:])
			out = append(out, '\n')
			if i+1 < len(batch) && len(out) < chunk {
				continue
			}
			if j.err == nil {
				_, j.err = w.Write(out)
			}
			out = out[:0]
		}
		clear(batch) // releases the strings
	}
}

// appendEntry encodes an entry as encoding/json does, but many times faster.
func appendEntry(b []byte, e *Entry, prev string) []byte {
	b = append(b, `{"n":`...)
	b = strconv.AppendUint(b, e.N, 10)
	b = append(b, `,"kind":"`...)
	b = append(b, e.Kind...)
	b = append(b, `","at":`...)
	b = strconv.AppendInt(b, e.At, 10)
	b = appendNumber(b, `,"request":`, int64(e.Request))
	b = appendNumber(b, `,"shopper":`, int64(e.Shopper))
	b = appendText(b, `,"user":`, e.User)
	b = appendText(b, `,"act":`, e.Act)
	b = appendText(b, `,"item":`, e.Item)
	b = appendText(b, `,"key":`, e.Key)
	b = appendNumber(b, `,"count":`, int64(e.Count))
	b = appendText(b, `,"address":`, e.Address)
	b = appendText(b, `,"ticket":`, e.Ticket)
	b = appendText(b, `,"order_id":`, e.Order)
	b = appendNumber(b, `,"status":`, int64(e.Status))
	b = appendText(b, `,"code":`, e.Code)
	b = appendText(b, `,"state":`, e.State)
	b = appendText(b, `,"error":`, e.Error)
	b = appendText(b, `,"date":`, e.Date)
	b = appendText(b, `,"body":`, e.Body)
	if e.Start != nil {
		b = appendJSON(append(b, `,"start":`...), e.Start)
	}
	if e.End != nil {
		b = appendJSON(append(b, `,"end":`...), e.End)
	}
	b = append(b, `,"prev":"`...)
	b = append(b, prev...)
	return append(b, `"}`...)
}

func appendNumber(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendText(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, name...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendJSON(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and times always marshal
	}
	return append(b, text...)
}
