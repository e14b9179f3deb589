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

func (h *PictureHandler) run(c Command) func(context.Context) (Done, error) {
	return handler(func(ctx context.Context, c does[*PictureHandler]) (Done, error) { return c.Do(ctx, h) }).run(c)
}

// KeepPicture makes a picture safe to show, and stores it.
type KeepPicture struct {
	Given
	Data File `json:"data" sample:"\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==\""`
}

// File is a file's bytes.
type File []byte

func (f File) attrs() []slog.Attr { return []slog.Attr{slog.Int("bytes", len(f))} }

func (*KeepPicture) Spec() Spec {
	return Spec{Name: "picture", Path: "items picture", Roles: editors, In: itself, File: true,
		Short: "Make a picture safe to show, and give it to the shop"}
}

func (c *KeepPicture) Do(ctx context.Context, h *PictureHandler) (Done, error) {
	h.one.Lock()
	p, err := cover.Make(c.Data, cover.Upload)
	debug.FreeOSMemory() // two pictures in a row take more memory than the function admin has
	h.one.Unlock()
	if err != nil {
		return Done{}, &PictureError{err.Error()}
	}
	if err := h.store.Put(ctx, &p); err != nil {
		return Done{}, err
	}
	return Done{Result: KeptOf(&p), Outcome: changed, More: []slog.Attr{slog.String("picture", p.Name)}}, nil
}
