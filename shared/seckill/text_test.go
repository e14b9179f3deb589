package seckill

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestTexts: a text holds what people read. Texts of all scripts and emoji are taken; whatever nobody sees, and what is
// left of lost letters, is not.
func TestTexts(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"Chinese": "杭州市西湖区文三路１号", "a rare character": "𠮷野家 😀", "its variant": "葛󠄀城市",
		"a family": "👨‍👩‍👧‍👦", "a heart": "❤️‍🔥", "a nod": "🙂‍↔️", "a skin": "👩🏽‍🚀", "a keycap": "1️⃣",
		"a flag": "🇨🇳", "England": "🏴󠁧󠁢󠁥󠁮󠁧󠁿 ", "Persian": "می\u200cخواهم", "Hindi": "क्\u200dष",
		"Sinhala": "ශ්\u200dරී", "Mongolian": "ᠬᠠᠷᠠ\u180eᠠ", "accents": "e\u0301",
		"a private character": "\ue000", "punctuation": "?!",
		"Arabic": "شارع ١",
	} {
		if why := flaw(strings.TrimSpace(text), 50, false); why != "" {
			t.Errorf("%s: %q has %s", what, text, why)
		}
	}
	hidden := map[string]string{
		"nothing": "", "a blank": " ", "ideographic blanks": "\u3000\u3000", "zero-width spaces": "\u200b\u200b",
		"fillers": "\u3164\u3164", "half-width fillers": "\uffa0",
		"Braille blanks": "\u2800", "word joiners": "\u2060",
		"directions": "\u200e\u202e", "an override": "\u202eA", "an isolate": "\u2066A\u2069", "an escape": "A\x1b[2J",
		"a C1 control": "A\u009b2J", "a delete": "A\x7f", "a nul": "A\x00", "a mark of bytes": "A\ufeffB",
		"a tab":         "A\tB",
		"a replacement": "A\ufffd", "no UTF-8": "A\xff", "half an emoji": half(t), "a soft hyphen": "A\u00adB",
		"a joiner between letters": "A\u200dB", "a joiner at an end": "می\u200c", "a joined blank": "😀\u200d ",
		"a selector alone": "\ufe0f", "selectors that hide a text": "A\ufe0f\ufe01\ufe02",
		"tags without a flag":    "A\U000e0041",
		"a flag without its end": "\U0001f3f4\U000e0067", "accents alone": "\u0301", "a noncharacter": "A\ufffe",
		"a line separator": "A\u2028B", "a carriage return": "A\rB", "a blank before": " A", "a blank after": "A\u00a0",
		"51 characters": strings.Repeat("国", 51),
	}
	for what, text := range hidden {
		if CheckLine("why", text, 50) == nil {
			t.Errorf("a line with %s: %q is taken", what, text)
		}
		if CheckText("address", text, 50) == nil {
			t.Errorf("a text with %s: %q is taken", what, text)
		}
	}
	if CheckLine("why", "a\nb", 50) == nil || CheckText("address", "a\nb", 50) != nil {
		t.Error("a line has line breaks, or a text has none")
	}
	var e *Error
	if err := CheckLine("why", "a\u202eb", 50); !errors.As(err, &e) || !strings.Contains(e.Hint, "U+202E") {
		t.Errorf("%v does not say what nobody sees", err)
	}
	if got := Tidy("\ufeff \u3000杭\t州\r\n市\u200b\u00a0\n"); got != "杭 州\n市" {
		t.Errorf("tidy: %q", got)
	}
	for raw, want := range map[string]string{
		"\u202e张\x1b三\ufffd": "张三", " 李 四\u3000": "李 四", "\u3164": "", "👩‍🚀": "👩‍🚀"} {
		if got := PlainName(raw); got != want {
			t.Errorf("the name %q: %q, want %q", raw, got, want)
		}
	}
}

// half is what JSON's reader makes of half an emoji.
func half(t *testing.T) (text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(`"杭州\ud83d"`), &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAddressesThatLostLetters: nobody can deliver to them. A message of an earlier release is read all the same.
func TestAddressesThatLostLetters(t *testing.T) {
	t.Parallel()
	r := Reservation{Request: Request{Order: KeyedOrderID("1", "7", "k"), Item: "1", User: "7", Count: 1,
		Given: Given{Address: "杭州市\n文三路 1 号?"}, Created: time.UnixMilli(1)}, Units: []int{1}}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"????? 1?", "杭州??1", "锟斤拷锟斤拷1号", "ï¿½ï¿½ 1", "杭\ufffd", "\u202e杭州", " 杭州"} {
		r.Address = address
		var e *Error
		if err := r.Check(); !errors.As(err, &e) || e.Field != "address" || strings.Contains(e.Hint, address) {
			t.Errorf("%q: %v", address, err)
		}
		m := Message{Kind: MessageOrder, Reservation: r}
		if m, err := DecodeMessage(m.Encode()); err != nil && !strings.Contains(address, "\ufffd") {
			t.Errorf("a message with %q: %+v, %v", address, m, err)
		}
	}
}
