package record

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// chunk is the bytes per write.
const chunk = 128 << 10

// Writer writes a journal. It is safe for concurrent use.
type Writer struct {
	began time.Time

	mu  sync.Mutex
	out *bufio.Writer // keeps the first error
	n   uint64
	end End
}

// CreateJournal starts a journal on w. Its first line has the current time.
func CreateJournal(w io.Writer, s Start) *Writer {
	j := &Writer{began: time.Now(), out: bufio.NewWriterSize(w, chunk)}
	s.Time = j.began.UTC()
	j.add(Entry{Kind: KindStart, Start: &s})
	return j
}

// Request records a request before it is sent, and returns its number for Answer.
func (j *Writer) Request(e Entry) uint64 {
	e.Kind = KindRequest
	return j.add(e)
}

// Answer records the answer to the request that e names, or that there was no answer.
func (j *Writer) Answer(e Entry) {
	e.Kind = KindAnswer
	j.add(e)
}

// Close writes the end and all that is not written yet. It returns the first error of the underlying writer. Call
// neither Request nor Answer afterwards.
func (j *Writer) Close(e End) error {
	j.add(Entry{Kind: KindEnd, End: &e})
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.out.Flush()
}

// add numbers an entry and writes it.
func (j *Writer) add(e Entry) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch e.Kind {
	case KindRequest:
		j.end.Requests++
	case KindAnswer:
		j.end.Answers++
	case KindEnd:
		e.End.Requests, e.End.Answers = j.end.Requests, j.end.Answers
	}
	j.n++
	e.N, e.At = j.n, time.Since(j.began).Microseconds()
	line, err := json.Marshal(&e)
	if err != nil {
		panic(err) // strings, numbers and times always marshal
	}
	_, _ = j.out.Write(append(line, '\n')) // Close returns the error
	return e.N
}
