// Package cover makes pictures of items safe to serve. In: a file's bytes, which anybody may have made. Out: the same
// picture, encoded anew without metadata, turned as its camera says, under a name made of its content; or why not. It
// touches nothing.
package cover

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// Limits of a picture. Of one of 16 million pixels Make took this much memory, the process in all: 106 MB for a plain
// JPEG, 304 MB for a progressive one, 326 MB for an interlaced PNG of 16 bits, 461 MB for a progressive JPEG in CMYK.
const (
	MaxSize   = 10 << 20   // bytes of the file
	MaxSide   = 8_000      // pixels
	MaxPixels = 16_000_000 // pixels
	quality   = 88         // of JPEG, in percent
)

// Picture is a picture that may be served.
type Picture struct {
	Name          string // 32 hexadecimal digits of the content's hash, and .jpg or .png
	Type          string // of its content
	Data          []byte
	Width, Height int // pixels
}

// Make checks a file by its content, not by its name, and encodes it anew. The error is a sentence for its author.
func Make(data []byte) (Picture, error) {
	if len(data) > MaxSize {
		return Picture{}, fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat):
		return Picture{}, errors.New("neither a JPEG nor a PNG picture, whatever its name is")
	case err != nil:
		return Picture{}, fmt.Errorf("damaged: %w", err)
	case size.Width < 1 || size.Height < 1 || size.Width > MaxSide || size.Height > MaxSide ||
		size.Width*size.Height > MaxPixels: // before it takes memory
		return Picture{}, fmt.Errorf("%d by %d pixels: want at most %d a side, and %d million in all", size.Width,
			size.Height, MaxSide, MaxPixels/1_000_000)
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, fmt.Errorf("damaged: %w", err)
	}
	var out bytes.Buffer
	p := Picture{Type: "image/" + format}
	if format == "jpeg" {
		m = turned(m, orientation(data))
		p.Name, err = ".jpg", jpeg.Encode(&out, m, &jpeg.Options{Quality: quality})
	} else {
		p.Name, err = ".png", (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, m)
	}
	if err != nil {
		return Picture{}, err
	}
	sum := sha256.Sum256(out.Bytes())
	p.Name, p.Data = hex.EncodeToString(sum[:16])+p.Name, out.Bytes()
	p.Width, p.Height = m.Bounds().Dx(), m.Bounds().Dy()
	return p, nil
}

// orientation returns how a JPEG's camera was held, 1 to 8 (tag 0x0112 of Exif 2.32), 1 if the file does not say.
func orientation(data []byte) int {
	for at := 2; at+10 < len(data) && data[at] == 0xff && data[at+1] != 0xda; {
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if length < 2 || at+2+length > len(data) {
			return 1
		}
		if data[at+1] == 0xe1 && bytes.HasPrefix(data[at+4:at+2+length], []byte("Exif\x00\x00")) {
			return fromTIFF(data[at+10 : at+2+length])
		}
		at += 2 + length
	}
	return 1
}

func fromTIFF(b []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(b, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(b) < 8 {
		return 1
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 1
	}
	entries := int64(order.Uint16(b[at:]))
	const size = 12 // bytes of an entry
	for i := range entries {
		e := at + 2 + i*size
		if e+size > int64(len(b)) {
			break
		}
		if order.Uint16(b[e:]) == 0x0112 {
			if n := int(order.Uint16(b[e+8:])); n >= 1 && n <= 8 {
				return n
			}
		}
	}
	return 1
}

// view shows a picture turned or mirrored, without a copy.
type view struct {
	image.Image
	how int
}

func turned(m image.Image, how int) image.Image {
	if how == 1 {
		return m
	}
	return view{m, how}
}

// sideways reports whether width and height change places.
func (v view) sideways() bool { return v.how >= 5 }

// Bounds implements image.Image.
func (v view) Bounds() image.Rectangle {
	b := v.Image.Bounds()
	if v.sideways() {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return image.Rect(0, 0, b.Dx(), b.Dy())
}

// At implements image.Image.
func (v view) At(x, y int) color.Color {
	b := v.Image.Bounds()
	if v.sideways() {
		x, y = y, x
	}
	if v.how == 2 || v.how == 3 || v.how == 7 || v.how == 8 {
		x = b.Dx() - 1 - x
	}
	if v.how == 3 || v.how == 4 || v.how == 6 || v.how == 7 {
		y = b.Dy() - 1 - y
	}
	return v.Image.At(b.Min.X+x, b.Min.Y+y)
}
