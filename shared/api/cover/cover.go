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

	"github.com/your-org/seckill/shared/seckill"
)

// Limits of a picture. Of one of 16 million pixels Make took this much memory, the process in all: 106 MB for a plain
// JPEG, 304 MB for a progressive one, 326 MB for an interlaced PNG of 16 bits, 461 MB for a progressive JPEG in CMYK.
type Limits struct {
	Size   int // bytes of the file
	Pixels int
	Made   int // bytes of what is made of it; 0 means any number
}

// What a picture may have.
var (
	Large = Limits{Size: 10 << 20, Pixels: 16_000_000} // on a laptop
	// Upload is a command's: as base64 it fits into one with 5 MiB, and a function with 512 MiB and a third of a
	// processor makes it in seconds.
	Upload = Limits{Size: 3_584 << 10, Pixels: 8_000_000, Made: seckill.MaxPictureSize}
)

const (
	MaxSide  = 8_000 // pixels
	maxScans = 100   // scans of a JPEG: one of few bytes may take as long as the whole picture; encoders make about ten
	quality  = 88    // of JPEG, in percent
)

// Make checks a file by its content, not by its name, and encodes it anew. The error is a sentence for its author.
func Make(data []byte, limits Limits) (seckill.Picture, error) {
	none := seckill.Picture{}
	if len(data) > limits.Size {
		return none, fmt.Errorf("larger than %.1f MiB", mib(limits.Size))
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat), err == nil && format != "jpeg" && format != "png":
		return none, errors.New("neither a JPEG nor a PNG picture, whatever its name is")
	case err != nil:
		return none, fmt.Errorf("damaged: %w", err)
	case size.Width < 1 || size.Height < 1 || size.Width > MaxSide || size.Height > MaxSide ||
		size.Width*size.Height > limits.Pixels: // before it takes memory
		return none, fmt.Errorf("%d by %d pixels: want at most %d a side, and %d million in all", size.Width,
			size.Height, MaxSide, limits.Pixels/1_000_000)
	}
	// Within a scan a byte 0xff is never followed by this one.
	if scans := bytes.Count(data, []byte{0xff, 0xda}); format == "jpeg" && scans > maxScans {
		return none, fmt.Errorf("%d scans: want at most %d; save it as a plain JPEG, not a progressive one", scans,
			maxScans)
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return none, fmt.Errorf("damaged: %w", err)
	}
	var out bytes.Buffer
	var p seckill.Picture
	if format == "jpeg" {
		m = turned(m, orientation(data))
		p.Name, err = ".jpg", jpeg.Encode(&out, m, &jpeg.Options{Quality: quality})
	} else {
		p.Name, err = ".png", png.Encode(&out, m)
	}
	if err != nil {
		return none, err
	}
	if limits.Made > 0 && out.Len() > limits.Made {
		return none, fmt.Errorf("encoded anew it has %.1f MiB: want at most %.1f; take fewer pixels, or JPEG",
			mib(out.Len()), mib(limits.Made))
	}
	sum := sha256.Sum256(out.Bytes())
	p.Name, p.Data = hex.EncodeToString(sum[:16])+p.Name, out.Bytes()
	p.Width, p.Height = m.Bounds().Dx(), m.Bounds().Dy()
	return p, nil
}

func mib(bytes int) float64 { return float64(bytes) / (1 << 20) }

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
