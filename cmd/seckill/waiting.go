package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// patience is how long a command is silent before it says what it waits for.
const patience = 2 * time.Second

// waiting tells somebody at a terminal what takes so long; without a writer it is silent.
type waiting struct{ w io.Writer }

// waitingOn gives one that is silent unless w is a terminal: a script that keeps standard error wants errors in it.
func waitingOn(w io.Writer) waiting {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return waiting{w}
		}
	}
	return waiting{}
}

// during calls f, and says what is waited for when it takes longer than patience.
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
		<-said // it is being written, and comes before what is printed next
	}
	return err
}
