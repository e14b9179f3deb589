package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// partLife is how long a broken-off export can go on: after that its first pages would be too old beside its last.
const partLife = 24 * time.Hour

// part is a file that is fetched page by page and gets its name once it is whole. The pages so far are in NAME.part,
// and NAME.part.json says how far they go: a process that was killed, or lost the network, goes on from there.
type part struct {
	name  string
	file  *os.File
	owner string
	// unlock ends the lock that keeps other processes out
	unlock func() error
	partState
}

// partState is what NAME.part.json has.
type partState struct {
	Of     string    `json:"of"`    // what is fetched; a command that fetches something else begins anew
	Owner  string    `json:"owner"` // the process that writes it
	Began  time.Time `json:"began"`
	Next   string    `json:"next"`   // where the next page begins
	Size   int64     `json:"size"`   // bytes of whole pages; what comes after them is half a page
	Parts  int       `json:"parts"`  // pages so far
	Things int       `json:"things"` // on these pages
	// things that these pages lack, because they cannot be read
	Unreadable int `json:"unreadable"`
}

// openPart goes on with the part of a file, or begins a part. It refuses a part that another process writes, and a file
// that only has the name of a part.
func openPart(name, of string) (*part, error) {
	unlock, err := lockPart(name + ".part")
	if err != nil {
		return nil, err
	}
	p := &part{name: name, owner: rand.Text(), unlock: unlock}
	if err := p.open(of); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return p, nil
}

func (p *part) open(of string) (err error) {
	if p.file, err = os.OpenFile(p.name+".part", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return errors.Join(err, p.file.Close())
	}
	old, known := p.read()
	if !known && info.Size() > 0 {
		return errors.Join(fmt.Errorf("%s.part is not part of an export: move it away", p.name), p.file.Close())
	}
	if known && old.Of == of && old.Size <= info.Size() && time.Since(old.Began) < partLife {
		p.partState = old
	} else {
		p.partState = partState{Of: of, Began: time.Now()}
	}
	p.Owner = p.owner
	if err := errors.Join(p.file.Truncate(p.Size), p.save()); err != nil {
		return errors.Join(err, p.file.Close())
	}
	return nil
}

func (p *part) read() (s partState, ok bool) {
	b, err := os.ReadFile(p.name + ".part.json")
	return s, err == nil && json.Unmarshal(b, &s) == nil && s.Of != ""
}

// mine returns an error if another process took the part, which only systems without a lock allow.
func (p *part) mine() error {
	if now, ok := p.read(); !ok || now.Owner != p.owner {
		return fmt.Errorf("another process writes %s.part", p.name)
	}
	return nil
}

func (p *part) save() error {
	b, err := json.Marshal(&p.partState)
	if err != nil {
		return err
	}
	next := p.name + ".part.json.new"
	return errors.Join(os.WriteFile(next, b, 0o600), os.Rename(next, p.name+".part.json"))
}

// add appends a page with so many things. Only its return makes the page part of the file.
func (p *part) add(page []byte, things int, next string) error {
	if err := p.mine(); err != nil {
		return err
	}
	if _, err := p.file.WriteAt(page, p.Size); err != nil {
		return err
	}
	p.Size, p.Parts, p.Things, p.Next = p.Size+int64(len(page)), p.Parts+1, p.Things+things, next
	return p.save()
}

// whole reports whether the last page is there, and only the name is missing.
func (p *part) whole() bool { return p.Parts > 0 && p.Next == "" }

// end gives the file its name, or returns why it is not whole: err, if that is not nil. Then a part with a page stays,
// to go on from; a part without a page is removed.
func (p *part) end(err error) error {
	if err == nil {
		err = p.file.Sync()
	}
	err = errors.Join(err, p.file.Close())
	defer func() { _ = p.unlock() }() // after the rename: a process that waits for the lock then finds no part
	if other := p.mine(); other != nil {
		return fmt.Errorf("%s is not written: %w", p.name, cmp.Or(err, other))
	}
	switch {
	case err == nil:
		err = os.Rename(p.name+".part", p.name)
	case p.Parts > 0:
		return fmt.Errorf("%s is not written: broken off with %d so far: %w; give the same command again within a "+
			"day: it goes on there", p.name, p.Things, err)
	default:
		err = fmt.Errorf("%s is not written: %w", p.name, errors.Join(err, os.Remove(p.name+".part")))
	}
	return errors.Join(err, os.Remove(p.name+".part.json"))
}
