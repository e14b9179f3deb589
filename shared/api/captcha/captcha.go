// Package captcha draws sums. In: a sum and a seed. Out: a small PNG with bent, tilted digits amid lines and dots,
// always the same for the same seed. It touches nothing.
//
// It keeps off scripts that read text. A program made for these pictures reads them, and a farm of people does anyway.
package captcha

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	width, height = 200, 64
	scale         = 5 // pixels of a dot of a glyph
	columns, rows = 5, 7
	advance       = 30 // from one glyph to the next
)

// glyphs has for each character its rows, the highest bit of five first.
var glyphs = map[rune][rows]byte{
	'0': {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110},
	'1': {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
	'2': {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111},
	'3': {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110},
	'4': {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},
	'5': {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},
	'6': {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110},
	'7': {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000},
	'8': {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},
	'9': {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100},
	'+': {0b00000, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0b00000},
	'=': {0b00000, 0b00000, 0b11111, 0b00000, 0b11111, 0b00000, 0b00000},
	'?': {0b01110, 0b10001, 0b00001, 0b00110, 0b00100, 0b00000, 0b00100},
}

// Colours: ink on paper has a contrast of 12:1; dots and lines are paler.
const (
	paper = iota
	pale
	ink
)

var palette = color.Palette{color.Gray{0xff}, color.RGBA{0x8f, 0xa3, 0xad, 0xff}, color.RGBA{0x26, 0x32, 0x38, 0xff}}

// encoder uses its buffers again: they are a thousand times as large as a picture.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers{}}

type buffers struct{ sync.Pool }

// Get implements png.EncoderBufferPool.
func (p *buffers) Get() *png.EncoderBuffer {
	b, _ := p.Pool.Get().(*png.EncoderBuffer)
	return b
}

// Put implements png.EncoderBufferPool.
func (p *buffers) Put(b *png.EncoderBuffer) { p.Pool.Put(b) }

// Painter is a seckill.Painter.
type Painter struct{}

// Paint implements seckill.Painter.
func (Painter) Paint(s seckill.Sum, seed int) []byte {
	text := []rune(fmt.Sprintf("%d+%d=?", s.A, s.B))
	r := rand.New(rand.NewPCG(uint64(seed), uint64(s.A<<8+s.B)))
	between := func(least, most float64) float64 { return least + (most-least)*r.Float64() }
	m := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	lines(m, between)
	right, down := waves(height, between), waves(width, between) // how far each row and column is shifted
	for i, c := range text {
		left, top := 12+float64(i*advance)+between(-2, 2), 14+between(-5, 5)
		turned := between(-0.25, 0.25)
		if c == '+' {
			turned /= 5 // else it looks like ×
		}
		sin, cos := math.Sincos(turned)
		// from a pixel back to a dot of the glyph
		for y := range height {
			for x := max(0, int(left)-8); x < min(width, int(left)+advance+8); x++ {
				dx := float64(x) + right[y] - left - columns*scale/2
				dy := float64(y) + down[x] - top - rows*scale/2
				col := int(math.Floor((dx*cos+dy*sin)/scale + columns/2.0))
				row := int(math.Floor((dy*cos-dx*sin)/scale + rows/2.0))
				if col >= 0 && col < columns && row >= 0 && row < rows && glyphs[c][row]>>(columns-1-col)&1 == 1 {
					m.SetColorIndex(x, y, ink)
				}
			}
		}
	}
	for range width * height / 40 {
		m.SetColorIndex(r.IntN(width), r.IntN(height), uint8(paper+r.IntN(3)))
	}
	var b bytes.Buffer
	if err := encoder.Encode(&b, m); err != nil {
		panic(err) // cannot happen: a buffer takes everything
	}
	return b.Bytes()
}

// waves returns a wave of n values.
func waves(n int, between func(least, most float64) float64) []float64 {
	bend, phase, length := between(2, 3.5), between(0, 2*math.Pi), between(6, 11)
	all := make([]float64, n)
	for i := range all {
		all[i] = bend * math.Sin(float64(i)/length+phase)
	}
	return all
}

// lines draws bent lines from left to right.
func lines(m *image.Paletted, between func(least, most float64) float64) {
	for range 4 {
		at, slope, bend, wave := between(8, height-8), between(-0.15, 0.15), between(3, 9), between(12, 30)
		for x := range width {
			y := int(at + slope*float64(x-width/2) + bend*math.Sin(float64(x)/wave))
			m.SetColorIndex(x, y, pale)
			m.SetColorIndex(x, y+1, pale)
		}
	}
}
