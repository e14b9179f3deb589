package main

import (
	"crypto/ed25519"
	"fmt"
	"time"

	"github.com/your-org/seckill/cmd/seckill/secrets"
	"github.com/your-org/seckill/proof/report"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/api/salts"
	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// commands creates the key with which the back office signs commands, or adds another one, and gives functions the
// public parts. The previous key signs until every instance has read the new key.
func (p *keyPlan) commands(now time.Time) {
	const what = "a key pair (Ed25519), which signs staff's commands"
	name, have := secrets.CommandKey, p.have[secrets.CommandKey]
	keys, err := operator.ParseKeys(have)
	switch {
	case have != "" && !p.rotates(name):
		p.keep(name)
	default:
		from, said := now, what
		if err == nil { // else nobody could use it: replace it at once
			from, said = now.Add(keyDelay), what+"; the one before signs for a quarter of an hour more"
		}
		keys, err = keys.Add([ed25519.SeedSize]byte(random(ed25519.SeedSize)), from), nil
		p.put(name, keys.String(), said)
	}
	if err != nil {
		return // doctor and the function admin say so
	}
	if public := keys.Public().String(); public != p.have[secrets.CommandPublic] {
		p.put(secrets.CommandPublic, public, "the public part, with which functions check commands")
		return
	}
	p.stays(secrets.CommandPublic, "exists, unchanged: it belongs to "+name)
}

// readSalts reads the secret of salts from a private key of reports.
func readSalts(file string) (s salts.Secret, err error) {
	text, err := readSmall(file, maxKeyFile)
	if err != nil {
		return s, err
	}
	key, err := report.ParseKey(text)
	if err != nil {
		return s, fmt.Errorf("--report-key %s: %w", file, err)
	}
	return key.Salts, nil
}

// take stores a value that somebody else has made, if the caller gave it.
func (p *keyPlan) take(name, value, what string) error {
	switch {
	case value == "":
	case p.have[name] == value:
		p.stays(name, "exists, with this value")
	case p.have[name] != "" && !p.rotates(name):
		return fmt.Errorf("%s exists with another value: replace it with --rotate=%s", name, name)
	default:
		p.put(name, value, what)
	}
	return nil
}

// read reads the keys and certificates of Alipay that the flags name.
func (k *keysFlags) read(g *given) (err error) {
	if k.alipayFile != "" {
		text, err := readSmall(k.alipayFile, maxKeyFile)
		if err != nil {
			return err
		}
		if g.key, err = alipay.ParsePublicKey(text); err != nil {
			return fmt.Errorf("%s: %w", k.alipayFile, err)
		}
	}
	if k.shopFile != "" {
		text, err := readSmall(k.shopFile, maxKeyFile)
		if err != nil {
			return err
		}
		pair, err := fakegateway.PairOf(text) // PEM in UTF-8, however the file was encoded
		if err != nil {
			return fmt.Errorf("%s: %w", k.shopFile, err)
		}
		g.private = pair.Private
	}
	if k.certFolder != "" {
		g.certs, err = readCertificates(k.certFolder)
	}
	return err
}
