package cover_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/cover"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// corners is a picture of 48 by 32 pixels whose upper left quarter is red, upper right green, lower left blue.
func corners() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 48, 32))
	for y := range 32 {
		for x := range 48 {
			c := color.RGBA{A: 255}
			switch {
			case x < 24 && y < 16:
				c.R = 255
			case y < 16:
				c.G = 255
			case x < 24:
				c.B = 255
			}
			m.Set(x, y, c)
		}
	}
	return m
}

func asJPEG(t *testing.T, orientation uint16, order binary.ByteOrder) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, jpeg.Encode(&b, corners(), &jpeg.Options{Quality: 95}))
	tiff := []byte("MM\x00\x2a")
	if order == binary.LittleEndian {
		tiff = []byte("II\x2a\x00")
	}
	for _, v := range []any{uint32(8), uint16(1), uint16(0x0112), uint16(3), uint32(1), orientation, uint16(0),
		uint32(0)} {
		var w bytes.Buffer
		must.OK(t, binary.Write(&w, order, v))
		tiff = append(tiff, w.Bytes()...)
	}
	exif := append([]byte("Exif\x00\x00"), append(tiff, "31.2304N 121.4737E"...)...)
	head := []byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}
	return append(append(head, exif...), b.Bytes()[2:]...)
}

func asPNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, png.Encode(&b, m))
	return b.Bytes()
}

// TestMake: type by content, no metadata, a name by content that a second call repeats.
func TestMake(t *testing.T) {
	t.Parallel()
	p := asPNG(t, corners())
	secret := []byte("tEXtComment\x00at home")
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(secret)-4))
	chunk = binary.BigEndian.AppendUint32(append(chunk, secret...), crc32.ChecksumIEEE(secret))
	const afterHeader = 33
	p = append(append(append([]byte{}, p[:afterHeader]...), chunk...), p[afterHeader:]...)
	for kind, data := range map[string][]byte{"jpeg": asJPEG(t, 1, binary.BigEndian),
		"png": append(p, "<script>trailing</script>"...)} {
		got, err := cover.Make(data, cover.Large)
		if err != nil {
			t.Fatal(kind, err)
		}
		_, format, err := image.Decode(bytes.NewReader(got.Data))
		if err != nil || format != kind || seckill.PictureType(got.Name) != "image/"+kind || got.Width != 48 ||
			got.Height != 32 ||
			!regexp.MustCompile(`^[0-9a-f]{32}\.(jpg|png)$`).MatchString(got.Name) {
			t.Errorf("%s: %s, %s, %d by %d, %v", kind, got.Name, seckill.PictureType(got.Name), got.Width, got.Height,
				err)
		}
		for _, s := range []string{"Exif", "121.4737E", "at home", "script"} {
			if bytes.Contains(got.Data, []byte(s)) {
				t.Errorf("%s: %q is still there", kind, s)
			}
		}
		if again, err := cover.Make(data, cover.Large); err != nil || again.Name != got.Name {
			t.Errorf("%s again: %s, %v", kind, again.Name, err)
		}
	}
}

// TestOrientation: red goes where a viewer that knows Exif shows it.
func TestOrientation(t *testing.T) {
	t.Parallel()
	// corner with red, and corner with green: which of left/right and upper/lower
	want := [9][2]string{1: {"lu", "ru"}, 2: {"ru", "lu"}, 3: {"rd", "ld"}, 4: {"ld", "rd"}, 5: {"lu", "ld"},
		6: {"ru", "rd"}, 7: {"rd", "ru"}, 8: {"ld", "lu"}}
	for n := uint16(1); n <= 8; n++ {
		for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
			got, err := cover.Make(asJPEG(t, n, order), cover.Large)
			must.OK(t, err)
			m, _, err := image.Decode(bytes.NewReader(got.Data))
			must.OK(t, err)
			at := map[string]string{}
			for name, p := range map[string]image.Point{"lu": {4, 4}, "ru": {got.Width - 5, 4},
				"ld": {4, got.Height - 5}, "rd": {got.Width - 5, got.Height - 5}} {
				r, g, b, _ := m.At(p.X, p.Y).RGBA()
				switch {
				case r > 0xc000 && g < 0x4000 && b < 0x4000:
					at["red"] = name
				case g > 0xc000 && r < 0x4000 && b < 0x4000:
					at["green"] = name
				}
			}
			if at["red"] != want[n][0] || at["green"] != want[n][1] || (got.Width == 32) != (n >= 5) {
				t.Errorf("orientation %d, %v: %v, %d by %d", n, order, at, got.Width, got.Height)
			}
		}
	}
}

// TestScans: each scan of a progressive JPEG goes through the whole picture, however few bytes it has.
func TestScans(t *testing.T) {
	t.Parallel()
	whole := asJPEG(t, 1, binary.BigEndian)
	end := len(whole) - 2
	scan := whole[bytes.Index(whole, []byte{0xff, 0xda}):end]
	with := func(scans int) []byte {
		return append(append(whole[:end:end], bytes.Repeat(scan, scans-1)...), whole[end:]...)
	}
	if _, err := cover.Make(with(100), cover.Large); err != nil {
		t.Error(err)
	}
	if _, err := cover.Make(with(101), cover.Large); err == nil || !strings.Contains(err.Error(), "101 scans") {
		t.Errorf("101 scans: %v", err)
	}
}

// TestWhatIsRefused: nothing large is decoded, and a name proves nothing.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	bomb := asPNG(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	binary.BigEndian.PutUint32(bomb[16:], 60_000) // width and height of the header, whose checksum follows
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	whole := asJPEG(t, 1, binary.BigEndian)
	for want, data := range map[string][]byte{
		"neither a JPEG nor a PNG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`),
		"60000 by 60000 pixels":    bomb,
		"larger than 10.0 MiB":     make([]byte, cover.Large.Size+1),
		"damaged":                  whole[:len(whole)-20],
	} {
		if _, err := cover.Make(data, cover.Large); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := cover.Make(whole, cover.Limits{Size: 1 << 20, Pixels: 1 << 20, Made: 100}); err == nil ||
		!strings.Contains(err.Error(), "take fewer pixels") {
		t.Errorf("what is made is too large: %v", err)
	}
	if _, err := cover.Make(nil, cover.Large); err == nil {
		t.Error("an empty file is a picture")
	}
}

// FuzzMake: no bytes panic, and what comes out can be made again.
func FuzzMake(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II\x2a\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := cover.Make(data, cover.Large); err == nil {
			if _, err := cover.Make(p.Data, cover.Large); err != nil {
				t.Error(err)
			}
		}
	})
}
