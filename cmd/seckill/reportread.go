package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/proof/audit"
	"github.com/your-org/seckill/proof/record"
	"github.com/your-org/seckill/proof/report"
)

// dumpFile reads a dump.
func dumpFile(name string) audit.Source {
	return audit.SourceFunc(func(_ context.Context, each func(*record.Line) error) error {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--dump: %w", err)
		}
		defer f.Close()
		if err := record.Lines(f, each); err != nil {
			return fmt.Errorf("--dump %s: %w", name, err)
		}
		return nil
	})
}

// verifierOf returns a verifier that a flag gives: itself, or in a file.
func verifierOf(flag string) (string, error) {
	if flag == "" || strings.Count(flag, "+") >= 2 {
		return flag, nil
	}
	text, err := readSmall(flag, maxKeyFile)
	if err != nil {
		return "", fmt.Errorf("--key: want a verifier, NAME+ID+KEY, or a file with one: %w", err)
	}
	lines := strings.Fields(text)
	if len(lines) == 0 || strings.HasPrefix(lines[len(lines)-1], "PRIVATE+") {
		return "", fmt.Errorf("--key %s: has no verifier", flag)
	}
	return lines[len(lines)-1], nil // a private key's file ends with its verifier
}

func checkedFile(name, verifier string) (*report.Checked, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Verify(f, verifier, nil)
}

// checkedBy checks a file by the verifier that a flag gives. A missing file is the caller's to mend.
func checkedBy(flag, name string) (*report.Checked, error) {
	verifier, err := verifierOf(flag)
	if err != nil {
		return nil, err
	}
	c, err := checkedFile(name, verifier)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return c, err
	}
	return nil, faultError{err}
}

const verifierUsage = "the shop's verifier, NAME+ID+KEY, or a file with it (default: the one that the report names)"

func reportVerifyCommand() *cobra.Command {
	var key string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a report: its signature, each line, all sums",
		Long: `Check a report without an account and without the network: the signature, each line by its hash, that
no line is missing, doubled or moved, and every sum from the orders' lines. Each damaged line is
named.

--key is the shop's verifier, as the shop published it before the sale. Without it the command takes
the one that the report names: that shows damage, but not who signed. The exit code is 1 if anything
is wrong.`,
		Example: `  seckill report verify sale.jsonl --key 'shop.example+1a2b3c4d+AbCd…'
  seckill report verify sale.jsonl.gz --json`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := checkedBy(key, args[0])
			if err != nil {
				return err
			}
			p := printer{json: asJSON}
			if err := p.print(cmd, nil, c, func(p *page) { p.checked(c) }); err != nil {
				return err
			}
			return notOK(args[0], c)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", verifierUsage)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func notOK(name string, c *report.Checked) error {
	if c.OK() {
		return nil
	}
	return faultError{fmt.Errorf("%s is not as it was signed: %s", name, counted(c.Count, "finding", "findings"))}
}

func reportShowCommand() *cobra.Command {
	var key, html string
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a report for people",
		Long: `Check a report as "seckill report verify" does, and print what it says: what was offered, what became
of the orders, how long shoppers waited, the money, each minute, and what the audit found. --html
writes the same as a page.`,
		Example: `  seckill report show sale.jsonl
  seckill report show sale.jsonl --html sale.html`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := checkedBy(key, args[0])
			if err != nil {
				return err
			}
			if html != "" {
				err = newFile(html, published, func(w io.Writer) error { return report.WriteHTML(w, c) })
			} else {
				err = (&printer{}).print(cmd, nil, nil, func(p *page) { p.report(c) })
			}
			if err != nil {
				return err
			}
			return notOK(args[0], c)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", verifierUsage)
	cmd.Flags().StringVar(&html, "html", "", "write a page to this file, which must not exist")
	return cmd
}

func reportProofCommand() *cobra.Command {
	var key, order, user, salt string
	cmd := &cobra.Command{
		Use:   "proof FILE --order ID",
		Short: "Print the proof that an order is in a report",
		Long: `Print, as JSON, an order's line and the hashes that lead from it to the signed root. Whoever has the
shop's verifier can check it without the rest of the report. With --user and --salt the command checks
first that the line is that user's. An order's salt is for its shopper alone; "seckill report salt"
prints it.`,
		Example: `  seckill report proof sale.jsonl --order onbifkiqxkbgcqqp4n7ch3zuytpnskog
  seckill report proof sale.jsonl --order onbifkiqxkbgcqqp4n7ch3zuytpnskog --user 1001 --salt 5f3a…`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			verifier, err := verifierOf(key)
			switch {
			case err != nil:
				return err
			case order == "":
				return errors.New("--order is missing")
			case (user == "") != (salt == ""):
				return errors.New("--user and --salt go together")
			}
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			p, c, err := report.Prove(f, verifier, order)
			switch {
			case errors.Is(err, report.ErrNoOrder):
				return faultError{fmt.Errorf("order %s: %w", order, err)}
			case err != nil:
				return faultError{err}
			case p == nil:
				return notOK(args[0], c)
			case user != "" && !p.IsBuyer(salt, user):
				return faultError{fmt.Errorf("order %s is in the report, but by this salt it is not user %s's", order,
					user)}
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetEscapeHTML(false)
			return e.Encode(p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&key, "key", "", verifierUsage)
	f.StringVar(&order, "order", "", "order id")
	f.StringVar(&user, "user", "", "user id")
	f.StringVar(&salt, "salt", "", "the order's salt")
	return cmd
}

func reportSaltCommand() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "salt ORDER --key FILE",
		Short: "Print the salt of an order, for its shopper",
		Long: `Print the salt with which a report hashes the order's user and trades. Tell it to the order's shopper
only: whoever has it can try user ids. The shopper's own page shows it once "seckill keys --report-key"
has stored the secret of salts.`,
		Example: `  seckill report salt onbifkiqxkbgcqqp4n7ch3zuytpnskog --key report.key`,
		Args:    exactly("ORDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return errors.New("--key is missing: want the file that `seckill report key` made")
			}
			k, err := keyFile("--key", key)
			if err != nil {
				return err
			}
			return say(cmd, "%s", k.Salt(args[0]))
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "file with the private key of the shop's reports")
	return cmd
}

func reportKeyCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "key NAME --out FILE",
		Short: "Make the private key of a shop's reports",
		Long: `Make the Ed25519 key that signs a shop's reports and from which their salts derive, and print its
verifier: publish that before the sale. NAME stands in every signature, such as shop.example. Keep the
file: another key has other salts. It has nothing to do with a stack's secrets ("seckill keys").`,
		Example: `  seckill report key shop.example --out report.key`,
		Args:    exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return errors.New("--out is missing: want the name of the file to write")
			}
			if err := makeReportKey(out, args[0]); err != nil {
				return err
			}
			k, err := keyFile("--out", out)
			if err != nil {
				return err
			}
			return say(cmd, "%s", k.Verifier)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write, which must not exist")
	return cmd
}
