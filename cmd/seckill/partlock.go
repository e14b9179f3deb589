//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockPart keeps other processes from a part until unlock, or until this process ends. The part is there then.
func lockPart(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		var mine, there os.FileInfo
		mine, err = f.Stat()
		if there, _ = os.Stat(name); err == nil && os.SameFile(mine, there) {
			return f.Close, nil
		}
		err = errors.Join(err, syscall.EWOULDBLOCK) // its writer has just given it its name
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another process writes %s", name)
	}
	return nil, errors.Join(err, f.Close())
}
