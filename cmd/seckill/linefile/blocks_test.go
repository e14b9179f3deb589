package linefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/your-org/seckill/cmd/seckill/linefile"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)

const header = "subject,item,reason,until\n"

func TestFilesThatAreRead(t *testing.T) {
	all := func(subject seckill.Subject, item, reason string, until time.Time) seckill.Block {
		return seckill.Block{Subject: subject, Item: item, Reason: reason, By: "ada", Made: now, Until: until}
	}
	plain := []linefile.BlockLine{{N: 2, Block: all("user:1001", "7", "a script", now.Add(time.Hour))}}
	for name, tt := range map[string]struct {
		file string
		want []linefile.BlockLine
	}{
		"plain":                 {header + "1001,7,a script,2026-11-25T11:00:00Z\n", plain},
		"byte order mark, CRLF": {"\ufeffsubject,item,reason,until\r\n1001,7,a script,2026-11-25T11:00:00Z\r\n", plain},
		"no newline at the end": {header + "1001,7,a script,2026-11-25T11:00:00Z", plain},
		"blanks around fields":  {"subject , item,reason,\tuntil\n 1001 , 7,a script,2026-11-25T11:00:00Z \n", plain},
		"another time zone":     {header + "1001,7,a script,2026-11-25T19:00:00+08:00\n", plain},
		"another order":         {"until,reason,item,subject\n2026-11-25T11:00:00Z,a script,7,1001\n", plain},
		"quotes":                {header + `"1001","7","a script","2026-11-25T11:00:00Z"` + "\n", plain},
		"two columns, quoted text, empty lines, an address": {
			"subject,reason\n\n1001,\"says \"\"hello\"\", often\"\n\r\n203.0.113.7,脚本 🤖\n2001:DB8::/48,x\n",
			[]linefile.BlockLine{{N: 3, Block: all("user:1001", "*", `says "hello", often`, time.Time{})},
				{N: 5, Block: all("net:203.0.113.7/32", "*", "脚本 🤖", time.Time{})},
				{N: 6, Block: all("net:2001:db8::/48", "*", "x", time.Time{})}}},
		"as spreadsheets save it": {"sep=;\r\nsubject;reason;until;\r\n'1001;\"a;b\";;\r\n;;;\r\n ; ;;\r\n" +
			"\"=\"\"1002\"\"\";x;;", []linefile.BlockLine{{N: 3, Block: all("user:1001", "*", "a;b", time.Time{})},
			{N: 6, Block: all("user:1002", "*", "x", time.Time{})}}},
		"one subject for two items": {header + "1001,7,x,\n1001,8,x,\n1001,*,x,\n", []linefile.BlockLine{
			{N: 2, Block: all("user:1001", "7", "x", time.Time{})}, {N: 3, Block: all("user:1001", "8", "x",
				time.Time{})},
			{N: 4, Block: all("user:1001", "*", "x", time.Time{})}}},
	} {
		got, err := linefile.ReadBlocks(strings.NewReader(tt.file), "ada", now)
		same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
		if diff := cmp.Diff(tt.want, got, same); err != nil || diff != "" {
			t.Errorf("%s: %v, want (-), got (+):\n%s", name, err, diff)
		}
	}
}

// TestLinesThatAreWrong checks that a wrong line is named by its number, in words, with nothing that could control a
// terminal, and that the lines beside it are judged, too.
func TestLinesThatAreWrong(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"nobody":             {",,x,", `subject "": want a user id, an address, or a range such as 203.0.113.0/24`},
		"a name":             {"ann,,x,", `subject "ann": want a user id`},
		"full-width digits":  {"１００１,,x,", `subject "\uff11\uff10\uff10\uff11": want a user id`},
		"a zero-width space": {"1001\u200b,,x,", `subject "1001\u200b": want a user id`},
		"a no-break space":   {"1001\u00a0,,x,", `subject "1001\u00a0": want a user id`},
		"a number shortened": {"1.23457E+18,,x,", `subject 1.23457E+18: a spreadsheet shortened it`},
		"a decimal":          {"123456789012.0,,x,", `subject 123456789012.0: a program took it for a number`},
		"digits lost":        {"1234567890123450000,,x,", `subject 1234567890123450000: a spreadsheet keeps 15 digits`},
		"an error":           {"1001,#N/A,x,", `item #N/A: an error of a spreadsheet`},
		"a leading zero":     {"01001,,x,", `subject "01001": want a user id`},
		"a number too large": {"9223372036854775808,,x,", `subject "9223372036854775808": want a user id`},
		"an escape":          {"\x1b[2J,,x,", `subject "\x1b[2J": want a user id`},
		"a range's odd size": {"203.0.112.0/23,,x,", `subject "203.0.112.0/23": want a range of /32, /28, /24`},
		"everybody":          {"0.0.0.0/0,,x,", `subject "0.0.0.0/0": want a range of /32`},
		"a range's other end": {"203.0.113.7/24,,x,",
			`subject "203.0.113.7/24": the range is written 203.0.113.0/24`},
		"IPv4 in IPv6":        {"::ffff:203.0.113.0/120,,x,", `subject "::ffff:203.0.113.0/120": want a user id`},
		"an interface":        {"fe80::1%eth0,,x,", `subject "fe80::1%eth0": want a range of /32`},
		"an item in words":    {"1001,phone,x,", `item "phone": want 1 to 19 digits`},
		"no reason":           {"1001,7,,", `reason: it is missing`},
		"a reason too long":   {"1001,7," + strings.Repeat("因", 201) + ",", `want 1..200 characters on one line; it has 201`},
		"a control character": {"1001,7,a\x00b,", `reason "a\x00b": want 1..200 characters on one line; it has the character U+0000`},
		"a carriage return":   {"1001,7,a\rb,", `reason "a\nb": want 1..200 characters on one line`},
		"a day": {"1001,7,x,2026-12-31",
			`until "2026-12-31": want a time such as 2026-12-31T16:00:00Z`},
		"over":                    {"1001,7,x,2026-11-25T10:00:00Z", `until 2026-11-25T10:00:00Z: it has passed`},
		"a field too few":         {"1001,7,x", `3 fields, and the first line has 4`},
		"a comma without quotes":  {"1001,7,a, b,2026-12-31T16:00:00Z", `5 fields, and the first line has 4`},
		"an open quote":           {`1001,7,"x,`, `its quotes are wrong`},
		"a bare quote":            {`1001,7,a "b" c,`, `its quotes are wrong`},
		"bytes that are not text": {"1001,7,a\xff,", `not UTF-8 text`},
		"the line above again":    {"1000,*,y,", `user 1000 for every item is on line 2 already`},
		"a long line":             {"1001,7," + strings.Repeat("x", linefile.MaxLine) + ",", "longer than 4096 bytes"},
	} {
		_, err := linefile.ReadBlocks(strings.NewReader(header+"1000,,x,\n"+tt.line+"\n1002,,x,\n1003,x,x,\n"), "ada",
			now)
		var bad *linefile.Error
		if !errors.As(err, &bad) || bad.Count != 2 || bad.Faults[0].Line != 3 ||
			!strings.Contains(bad.Faults[0].What, tt.want) || bad.Faults[1].Line != 5 {
			t.Errorf("%s: %v, %+v; want line 3: %s", name, err, bad, tt.want)
		}
	}
}

func TestFilesThatAreWrong(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"empty":             {"", "it is empty"},
		"a header only":     {header, "it has no block"},
		"no header":         {"1001,7,x,\n", `line 1: "1001" is not a column: there are subject, item, reason, until`},
		"a column too many": {"subject,reason,till\n", `line 1: "till" is not a column`},
		"a column twice":    {"subject,reason,subject\n", "line 1: the column subject is there twice"},
		"no reasons":        {"subject,until\n1001,\n", `reason is missing: want subject, reason; the line has "subject,`},
		"UTF-16":            {"\xff\xfes\x00u\x00", `line 1: "su" is not a column: there are subject, `},
		"a line of 10 MB":   {strings.Repeat("a", 10<<20), "line 1: longer than 4096 bytes"},
		"bars":              {"subject|reason\n1001|x\n", `line 1: "subject|reason" is not a column`},
		"a look-alike":      {"ѕubject,reason\n", `line 1: "\u0455ubject" is not a column`},
	} {
		if _, err := linefile.ReadBlocks(strings.NewReader(tt.file), "ada", now); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// lines is a file with a header and as many lines of one pattern.
func lines(n int, pattern string) io.Reader {
	var b bytes.Buffer
	b.WriteString(header)
	for i := range n {
		fmt.Fprintf(&b, pattern+"\n", 1000+i)
	}
	return &b
}

// TestManyLines checks the limits of lines and of the faults that are listed.
func TestManyLines(t *testing.T) {
	got, err := linefile.ReadBlocks(lines(linefile.MaxLines, "%d,,a script,"), "ada", now)
	if err != nil || len(got) != linefile.MaxLines {
		t.Errorf("%d lines, %v", len(got), err)
	}
	if _, err := linefile.ReadBlocks(lines(linefile.MaxLines+1, "%d,,a script,"), "ada", now); err == nil ||
		!strings.Contains(err.Error(), "more than 1000000 lines: split it") {
		t.Errorf("a line too many: %v", err)
	}
	_, err = linefile.ReadBlocks(lines(1000, "%d,x,a script,"), "ada", now)
	var bad *linefile.Error
	if !errors.As(err, &bad) || bad.Count != 1000 || len(bad.Faults) != linefile.MaxFaults ||
		bad.Faults[19].Line != 21 {
		t.Errorf("a thousand faults: %v", err)
	}
	long := strings.NewReader(header + "1000,,x,\n1001,," + strings.Repeat("因", 10<<20/3) + ",\n1002,,x,\n")
	if _, err := linefile.ReadBlocks(long, "ada", now); !errors.As(err, &bad) ||
		bad.Count != 1 || bad.Faults[0].Line != 3 {
		t.Errorf("a line of 10 MB: %v", err)
	}
}
