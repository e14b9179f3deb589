package seckill

import (
	"context"
	"errors"
	"path/filepath"
)

// Picture is a picture of an item that may be served.
type Picture struct {
	Name          string // 32 hexadecimal digits of the content's hash, and .jpg or .png
	Data          []byte
	Width, Height int // pixels
}

// Pictures keeps pictures of items. It is safe for concurrent use.
type Pictures interface {
	// Put stores a picture; one that is there stays. Any error is a fault.
	Put(ctx context.Context, p *Picture) error
	// Get returns a picture's bytes, by its name. ErrNoPicture; any other error is a fault.
	Get(ctx context.Context, name string) ([]byte, error)
}

// ErrNoPicture: there is no such picture.
var ErrNoPicture = errors.New("no such picture")

// MaxPictureSize is the most bytes of a picture that a function answers with: 6 MB as base64 ("Lambda quotas").
const MaxPictureSize = 4 << 20

// PicturePath is where pictures are on a server.
const PicturePath = "/pictures/"

// PictureControl is the Cache-Control of a picture: it never changes.
const PictureControl = "public, max-age=31536000, immutable"

// PictureType returns the type of a picture's content.
func PictureType(name string) string {
	return map[string]string{".jpg": "image/jpeg", ".png": "image/png"}[filepath.Ext(name)]
}
