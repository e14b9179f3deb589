package operator

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/your-org/seckill/shared/api/cover"
	"github.com/your-org/seckill/shared/seckill"
)

// PictureHandler executes the command about pictures. It is safe for concurrent use.
type PictureHandler struct {
	store seckill.Pictures
	one   sync.Mutex // one picture is decoded at a time: each takes up to 240 MB of memory (cover.Limits)
}

// NewPictureHandler returns a handler that keeps pictures in a store.
func NewPictureHandler(store seckill.Pictures) *PictureHandler { return &PictureHandler{store: store} }

// PictureKept is a picture that was made and stored.
type PictureKept struct {
	Path   string `json:"path"` // for an item's covers
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Bytes  int    `json:"bytes"`
}

// KeptOf describes a picture.
func KeptOf(p *seckill.Picture) PictureKept {
	return PictureKept{seckill.PicturePath + p.Name, p.Width, p.Height, len(p.Data)}
}

func (h *PictureHandler) commands() []command { return pictureCommands }

// do executes the only command.
func (h *PictureHandler) do(ctx context.Context, r *request) (done, error) {
	h.one.Lock()
	p, err := cover.Make(r.Data, cover.Upload)
	debug.FreeOSMemory() // two in a row take more than function admin has
	h.one.Unlock()
	if err != nil {
		return done{}, &PictureError{err.Error()}
	}
	if err := h.store.Put(ctx, &p); err != nil {
		return done{}, err
	}
	return done{result: KeptOf(&p), outcome: changed,
		more: []slog.Attr{slog.String("picture", p.Name)}}, nil
}

// Picture has a picture made safe to show, and stored.
func (c *Client) Picture(ctx context.Context, data []byte) (out PictureKept, err error) {
	err = c.give(ctx, &request{Command: cmdPicture, Data: data}, &out)
	return out, err
}
