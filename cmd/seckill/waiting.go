package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// patience is how long a command waits before it prints what it waits for. Tests shorten it.
var patience = 2 * time.Second

// waiting prints on a terminal what a command waits for; without a writer it prints nothing.
type waiting struct{ w io.Writer }

// waitingOn returns a waiting that prints only if w is a terminal: in a script's standard error, only errors belong.
func waitingOn(w io.Writer) waiting {
	if f, ok := bare(w).(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return waiting{w}
		}
	}
	return waiting{}
}

// during calls f, and prints what it waits for if f takes longer than patience.
func (w waiting) during(what string, f func() error) error {
	if w.w == nil {
		return f()
	}
	said := make(chan struct{})
	late := time.AfterFunc(patience, func() {
		defer close(said)
		fmt.Fprintf(w.w, "seckill: waiting for %s …\n", what)
	})
	err := f()
	if !late.Stop() {
		<-said // so that the line comes before later output
	}
	return err
}
