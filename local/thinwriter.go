package local

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
)

const wireSize = 512 // bytes of a buffer: frames have some 130

// thinWriter gives a connection that is taken over small buffers: net/http's have 8 KiB.
type thinWriter struct{ http.ResponseWriter }

// Hijack implements http.Hijacker. A page may have sent something since it was answered: that stays in the reader's
// buffer, where page.drop finds it.
func (t *thinWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, wide, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := wide.Peek(wide.Reader.Buffered()) // cannot fail
	in := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), max(wireSize, len(early)))
	_, _ = in.Peek(len(early)) // nor can this
	return conn, bufio.NewReadWriter(in, bufio.NewWriterSize(conn, wireSize)), nil
}
