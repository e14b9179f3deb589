package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/your-org/seckill/proof/report"
)

// keyFile reads a private key of reports, which this flag names.
func keyFile(flag, name string) (*report.Key, error) {
	text, err := readSmall(name, maxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	key, err := report.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, name, err)
	}
	return key, nil
}

// makeReportKey writes a new private key, which only its owner can read. It replaces no key.
func makeReportKey(name, shop string) error {
	text, err := report.GenerateKey(shop)
	if err != nil {
		return fmt.Errorf("%q: %w", shop, err)
	}
	return newFile(name, private, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// demoKey reads the private key of a run's reports, which is made when it is missing.
func demoKey() (*report.Key, error) {
	name, err := demoKeyFile()
	if err != nil {
		return nil, fmt.Errorf("no directory for a demo key (%w): name a key with --key", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := makeReportKey(name, "demo.seckill.example"); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return keyFile("demo key", name)
}

func demoKeyFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "seckill", "keys", "report-demo.key"), err
}

// demoSalts are the salts of the demo key, once `seckill report make` has made it: a run itself leaves no file.
type demoSalts struct{}

// Of implements httpapi.Salts.
func (demoSalts) Of(order string) (salt, verifier string) {
	name, err := demoKeyFile()
	if err != nil {
		return "", ""
	}
	key, err := keyFile("demo key", name)
	if err != nil {
		return "", ""
	}
	return key.Salts.Of(order)
}
