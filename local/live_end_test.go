package local

import (
	"net"
	"testing"

	"github.com/gobwas/ws"
)

// TestAPageThatEndsBeforeItIsOpen checks that a page whose end comes before its connection hears the reason.
func TestAPageThatEndsBeforeItIsOpen(t *testing.T) {
	server, client := net.Pipe()
	p := &page{writing: true}
	p.end(ws.StatusGoingAway, "the server stops")
	opened := make(chan bool)
	go func() { opened <- p.open(server) }()
	f, err := ws.ReadFrame(client)
	if err != nil {
		t.Fatal(err)
	}
	if code, reason := ws.ParseCloseFrameData(f.Payload); code != ws.StatusGoingAway || reason != "the server stops" {
		t.Errorf("the page hears %d, %s", code, reason)
	}
	if <-opened {
		t.Error("the page is open")
	}
}
