package local

import (
	"bytes"
	"io"
	"net/http"
)

// inProcess passes HTTP calls to a handler in this process without a socket: the payment client's calls to the gateway,
// and the gateway's notifications to the shop. Requests and answers are the same as over a connection.
type inProcess struct {
	handler http.Handler
	before  func() // runs before each call; may be nil
}

// RoundTrip implements http.RoundTripper. If the handler panics with http.ErrAbortHandler, the call fails as on a
// connection that the server closes.
func (t inProcess) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if t.before != nil {
		t.before()
	}
	in := r.Clone(r.Context())
	in.RequestURI, in.Host, in.RemoteAddr = r.URL.RequestURI(), r.URL.Host, "127.0.0.1:0"
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	defer func() {
		switch cut := recover(); cut {
		case nil:
		case http.ErrAbortHandler:
			resp, err = nil, io.ErrUnexpectedEOF
		default:
			panic(cut)
		}
	}()
	a := &answer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(a, in)
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: r,
	}, nil
}

// notifications sends the gateway's notifications: in the process for this shop, and over the network to the signed
// notify URL of other shops that use this gateway.
type notifications struct {
	inside  inProcess
	outside http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t notifications) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == host {
		return t.inside.RoundTrip(r)
	}
	return t.outside.RoundTrip(r)
}

type answer struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.wrote = true
	return a.body.Write(b)
}
