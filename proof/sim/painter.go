package sim

import (
	"github.com/your-org/seckill/shared/api/captcha"
	"github.com/your-org/seckill/shared/seckill"
)

// painter remembers what pictures show, so that shoppers can read them, and that it has drawn them.
type painter struct{ w *World }

// Paint implements seckill.Painter.
func (p painter) Paint(s seckill.Sum, seed int) []byte {
	d, k := p.w.door, painting{s, seed}
	if d.painted[k] == nil {
		d.painted[k] = captcha.Painter{}.Paint(s, seed)
		d.pictures[string(d.painted[k])] = s
	}
	return d.painted[k]
}
