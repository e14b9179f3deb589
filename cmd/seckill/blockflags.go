package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/seckill"
)

// blockFlags are the flags of the commands about blocks.
type blockFlags struct {
	shopFlags
	user, network, item string
	until               string
	lasts               time.Duration
}

// whom adds the flags that name a subject.
func (f *blockFlags) whom(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.user, "user", "", "user id, as in tokens")
	cmd.Flags().StringVar(&f.network, "network", "", "range of addresses, such as 203.0.113.0/24, or one address")
}

// subject reads the flags that name a subject, and returns "" without such a flag.
func (f *blockFlags) subject(cmd *cobra.Command) (seckill.Subject, error) {
	user, network := cmd.Flags().Changed("user"), cmd.Flags().Changed("network")
	switch {
	case user && network:
		return "", errors.New("--user and --network: give one of them")
	case user && !seckill.ValidUserID(f.user):
		return "", fmt.Errorf("--user %+.60q: want a user id, up to 19 digits without a leading zero", f.user)
	case user:
		return seckill.UserSubject(f.user), nil
	case !network:
		return "", nil
	}
	s, err := linefile.Subject(f.network)
	if _, isUser := s.User(); isUser {
		err = errors.New("want an address, or a range such as 203.0.113.0/24; --user is for user ids")
	}
	if err != nil {
		return "", fmt.Errorf("--network %+.60q: %w", f.network, err)
	}
	return s, nil
}

// noSubject refuses arguments: a subject is named by a flag.
func noSubject(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && seckill.ValidUserID(args[0]) {
		return fmt.Errorf("%q: give --user %s", args[0], args[0])
	}
	if len(args) > 0 {
		if s, err := linefile.Subject(args[0]); err == nil {
			return fmt.Errorf("%q: give --network %s", args[0], s.Written())
		}
	}
	return exactly()(cmd, args)
}

// block reads the flags that name a subject and an item.
func (f *blockFlags) block(cmd *cobra.Command) (b seckill.Block, err error) {
	if b.Subject, err = f.subject(cmd); err != nil {
		return b, err
	}
	if b.Subject == "" {
		return b, errors.New("--user ID or --network RANGE is missing")
	}
	if b.Item = seckill.Everywhere; cmd.Flags().Changed("item") {
		if b.Item = f.item; !seckill.ValidItemID(b.Item) {
			return b, fmt.Errorf("--item %+.60q: want 1 to 19 digits without a leading zero", f.item)
		}
	}
	return b, nil
}
