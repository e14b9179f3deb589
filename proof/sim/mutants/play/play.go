package main

import (
	"fmt"

	"github.com/your-org/seckill/proof/sim"
)

// play plays one seed. It returns the name of the violated check and its message, both empty if there is none.
func play(seed uint64) (check, detail string) {
	defer func() {
		if r := recover(); r != nil {
			check, detail = "panic", fmt.Sprint(r)
		}
	}()
	res := sim.Play(seed, sim.Options{}, false)
	if res.Err == nil {
		return "", ""
	}
	return sim.NameOf(res.Err), res.Err.Error()
}
