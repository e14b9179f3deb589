package main

import "github.com/spf13/cobra"

// shop opens the shop.
func (t *target) shop(cmd *cobra.Command) (*shop, error) {
	deployed, err := t.isDeployed(cmd)
	if err != nil {
		return nil, err
	}
	if !deployed {
		s, err := newRunningShop(t.url)
		if err != nil {
			return nil, err
		}
		return s.shop(), nil
	}
	s, err := openStack(cmd.Context(), t, waitingOn(cmd.ErrOrStderr()))
	if err != nil {
		return nil, err
	}
	return s.shop(), nil
}
