package itemfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const header = "id,title,price,sk_price,start_time,end_time,stock,limit,covers,detail,commodity_id\n"

// want returns the item that both files below contain.
func want() seckill.Listing {
	return seckill.Listing{Item: seckill.Item{
		ID: "9007199254740993", Price: 8880, Stock: 1200, Limit: 2, Buckets: 16, Version: 1, CreateTime: now,
		Start: time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC), End: time.Date(2026, 11, 12, 12, 0, 0, 0, time.UTC),
		Commodity: seckill.Commodity{ID: "77", Title: "西湖龙井, 明前", Price: 19999, CreateTime: now},
	}, Description: seckill.Description{Covers: []string{"https://example.com/a.jpg", "/pictures/tea.svg"},
		Detail: "<p>香 &#34;浓&#34;</p>"}, KeepsVariant: true, KeepsChecks: true}
}

// notRemoved leaves out what the descriptions lost.
var notRemoved = cmpopts.IgnoreFields(seckill.Listing{}, "Removed")

func TestBothFormatsReadTheSameItem(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"items.csv": header +
			`9007199254740993,"西湖龙井, 明前",199.99,88.8,2026-11-11T20:00:00+08:00,2026-11-12T12:00:00Z,1200,2,` +
			`https://example.com/a.jpg /pictures/tea.svg,"<p onclick=x id=""live"">香 ""浓""</p><script>alert(1)</script>",77` + "\n",
		"bom.CSV": "\ufeff" + header +
			`9007199254740993,"西湖龙井, 明前",199.99,88.80,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,1200,2,` +
			`"https://example.com/a.jpg  /pictures/tea.svg","<p>香 ""浓""</p>",77`,
		"semicolons.csv": strings.ReplaceAll(header, ",", ";") + ";;;;;;;;;;\n" +
			`"=""9007199254740993""";西湖龙井, 明前;199.99;88.8;2026-11-11T20:00:00+08:00;2026-11-12T12:00:00Z;1200;2;` +
			`https://example.com/a.jpg /pictures/tea.svg;"<p>香 ""浓""</p>";'77` + "\n",
		"items.json": `[{"id": 9007199254740993, "title": "西湖龙井, 明前", "price": 199.99, "sk_price": "88.80",
			"start_time": "2026-11-11T20:00:00+08:00", "end_time": "2026-11-12T12:00:00Z", "stock": 1200, "limit": 2,
			"covers": ["https://example.com/a.jpg", "/pictures/tea.svg"], "commodity_id": "77",
			"detail": "<p onclick=x>香 \"浓\"</p><script>alert(1)</script>"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(name, []byte(data), now)
			must.OK(t, err)
			if diff := cmp.Diff([]seckill.Listing{want()}, got, notRemoved); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestOptionalColumnsMayBeMissing(t *testing.T) {
	t.Parallel()
	got, err := Parse("a.csv", []byte("limit,id,title,price,sk_price,start_time,end_time,stock\n"+
		"1,5,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3\n"), now)
	must.OK(t, err)
	if got[0].Commodity.ID != "5" || len(got[0].Covers) != 0 || got[0].Detail != "" {
		t.Errorf("got %+v", got[0])
	}
}

func TestBothFormatsReadTheSameVariant(t *testing.T) {
	t.Parallel()
	csv := "id,title,price,sk_price,start_time,end_time,stock,limit,family,options,limit_spans\n" +
		"5,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1,70,颜色=黑 | 容量=256 GB,true\n" +
		"6,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1,,,\n"
	items, err := Parse("a.csv", []byte(csv), now)
	must.OK(t, err)
	twice := csv + strings.Replace(strings.Split(csv, "\n")[1], "5,", "8,", 1)
	if _, err := Parse("a.csv", []byte(twice), now); err == nil ||
		!strings.Contains(err.Error(), "line 4: options: item 5 of the family has the same: 颜色=黑 | 容量=256 GB") {
		t.Errorf("two of the same options: %v", err)
	}
	want := seckill.Variant{Family: "70", LimitSpans: true,
		Options: seckill.Options{{Name: "颜色", Value: "黑"}, {Name: "容量", Value: "256 GB"}}}
	if diff := cmp.Diff(want, items[0].Variant); diff != "" || items[1].Variant.Family != "" {
		t.Errorf("%+v, -want +got\n%s", items[1].Variant, diff)
	}
	again, err := Parse("a.json", Format(items), now)
	if diff := cmp.Diff(items, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v\n-first +second\n%s", err, diff)
	}
}

// TestWhatAFileDoesNotSayOfVariants: columns that it lacks keep what is stored, empty cells drop it, and both are still
// so after Format.
func TestWhatAFileDoesNotSayOfVariants(t *testing.T) {
	t.Parallel()
	const head, line = "id,title,price,sk_price,start_time,end_time,stock,limit",
		"5,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1"
	black := seckill.Options{{Name: "颜色", Value: "黑"}}
	stored := seckill.Listing{Item: seckill.Item{Variant: seckill.Variant{Family: "70", LimitSpans: true,
		Options: black}}}
	for _, tt := range []struct {
		head, line string
		want       seckill.Variant
	}{
		{"", "", stored.Variant},
		{",family,options", ",71,颜色=黑", seckill.Variant{Family: "71", LimitSpans: true, Options: black}},
		{",family,options,limit_spans", ",,,", seckill.Variant{}},
		{",family,options,limit_spans", ",71,颜色=黑,", seckill.Variant{Family: "71", Options: black}},
		{",family,options,limit_spans", ",71,颜色=黑,FALSE", seckill.Variant{Family: "71", Options: black}},
		{",family,options,limit_spans", ",71,颜色=黑,TRUE", seckill.Variant{Family: "71", LimitSpans: true,
			Options: black}},
	} {
		items, err := Parse("a.csv", []byte(head+tt.head+"\n"+line+tt.line+"\n"), now)
		if err != nil {
			t.Errorf("%s%s: %v", tt.head, tt.line, err)
			continue
		}
		again, err := Parse("a.json", Format(items), now)
		if diff := cmp.Diff(items, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s%s: %v\n-first +second\n%s", tt.head, tt.line, err, diff)
		}
		items[0].Keep(&stored)
		if diff := cmp.Diff(tt.want, items[0].Variant, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s%s: -want +got\n%s", tt.head, tt.line, diff)
		}
	}
}

// TestWhatAFileDoesNotSay: a column that it lacks keeps what is stored, an empty cell drops it, and both are still so
// after Format, which the command line tool sends.
func TestWhatAFileDoesNotSay(t *testing.T) {
	t.Parallel()
	const head, line = "id,title,price,sk_price,start_time,end_time,stock,limit",
		"5,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1"
	stored := seckill.Listing{Item: seckill.Item{Checks: seckill.ChecksStrict, Commodity: seckill.Commodity{ID: "777"}},
		Description: seckill.Description{Covers: []string{"/a.svg"}, Detail: "<p>x</p>"},
		Questions:   []seckill.Question{{Text: "a", Answers: []string{"b"}}}}
	for _, tt := range []struct{ name, head, line, want string }{
		{"a.csv", "", "", "[/a.svg] <p>x</p> 777 strict 1"},
		{"a.csv", ",covers,detail,commodity_id,checks,questions", ",,,,,", "[]  5  0"},
		{"a.csv", ",checks", ",off", "[/a.svg] <p>x</p> 777  1"},
		{"a.csv", ",covers,detail,commodity_id,checks,questions", ",/b.svg,<b>y</b>,78,standard,q = 1\n",
			"[/b.svg] <b>y</b> 78 standard 1"},
		{"a.json", "", "", "[/a.svg] <p>x</p> 777 strict 1"},
		{"a.json", "x", `, "covers": [], "detail": "", "commodity_id": "", "checks": "", "questions": []`, "[]  5  0"},
	} {
		data := head + tt.head + "\n" + line + tt.line + "\n"
		if tt.name == "a.json" {
			data = "[" + strings.TrimSuffix(element(5, nil), "}") + tt.line + "}]"
		}
		items, err := Parse(tt.name, []byte(data), now)
		if err != nil {
			t.Errorf("%s%s: %v", tt.head, tt.line, err)
			continue
		}
		sent, err := Parse("a.json", Format(items), now)
		must.OK(t, err)
		for what, l := range map[string]seckill.Listing{"read": items[0], "sent": sent[0]} {
			l.Keep(&stored)
			questions := len(l.Questions)
			if l.Questions == nil { // the item's questions stay
				questions = len(stored.Questions)
			}
			got := fmt.Sprint(l.Covers, " ", l.Detail, " ", l.Commodity.ID, " ", l.Checks, " ", questions)
			if got != tt.want {
				t.Errorf("%s%s, %s: %s, want %s", tt.head, tt.line, what, got, tt.want)
			}
		}
	}
}

// row returns a good line with some cells replaced.
func row(id int, cells map[string]string) string {
	all := map[string]string{"id": fmt.Sprint(id), "title": "表", "price": "2", "sk_price": "1",
		"start_time": "2026-11-11T12:00:00Z",
		"end_time":   "2026-11-12T12:00:00Z", "stock": "3", "limit": "1"}
	var out []string
	for _, c := range strings.Split(strings.TrimSpace(header), ",") {
		v := all[c]
		if over, ok := cells[c]; ok {
			v = over
		}
		out = append(out, v)
	}
	return strings.Join(out, ",") + "\n"
}

func element(id int, cells map[string]string) string {
	all := map[string]string{"id": fmt.Sprint(id), "title": `"表"`, "price": "2", "sk_price": "1",
		"start_time": `"2026-11-11T12:00:00Z"`,
		"end_time":   `"2026-11-12T12:00:00Z"`, "stock": "3", "limit": "1"}
	for k, v := range cells {
		all[k] = v
	}
	var out []string
	for k, v := range all {
		if v != "-" {
			out = append(out, fmt.Sprintf("%q: %s", k, v))
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func TestBadFilesNameTheLineAndLoadNothing(t *testing.T) {
	t.Parallel()
	set := func(column, value string) map[string]string { return map[string]string{column: value} }
	csvOf := func(column, value string) string { return header + row(1, nil) + row(2, set(column, value)) }
	jsonOf := func(column, value string) string {
		return "[\n" + element(1, nil) + ",\n" + element(2, set(column, value)) + "\n]"
	}
	tests := []struct{ behaviour, name, data, want string }{
		{"empty file", "a.csv", "", "a.csv: no items in it"},
		{"header only", "a.csv", header, "no items in it"},
		{"empty JSON", "a.json", " \n", "no items in it"},
		{"empty array", "a.json", "[]", "no items in it"},
		{"another ending", "a.txt", header, "ends in .json or .csv"},
		{"another encoding", "a.csv", header + "\xc1\xfa", "not UTF-8"},
		{"too large", "a.csv", header + strings.Repeat(" ", MaxSize), "larger than 5 MiB"},
		{"column missing", "a.csv", "id,title\n1,x\n", "line 1: the column price is missing: want id, title, price, "},
		{"column in another language", "a.csv", strings.Replace(header, "price", "preis", 1),
			`line 1: "preis" is not a column: there are id, title, price, `},
		{"field in another language", "a.json", strings.Replace(jsonOf("stock", "1"), "limit", "limits", 2),
			`element 1 (line 2): "limits" is not a column`},
		{"id that lost digits", "a.csv", csvOf("id", "1234567890123450000"),
			"line 3: id 1234567890123450000: a spreadsheet"},
		{"id shortened", "a.csv", csvOf("commodity_id", "1.2E+15"), "line 3: commodity_id 1.2E+15: a spreadsheet"},
		{"column unknown", "a.csv", strings.Replace(header, "detail", "details", 1) + row(1, nil),
			`line 1: "details" is not a column`},
		{"column twice", "a.csv", strings.Replace(header, "detail", "id", 1) + row(1, nil),
			"line 1: the column id is there twice"},
		{"cell missing", "a.csv", header + row(1, nil) + "2,x\n", "line 3: 2 fields, and the first line has 11"},
		{"open quote", "a.csv", header + row(1, nil) + `2,"x`, "line 3: its quotes are wrong"},
		{"id with letters", "a.csv", csvOf("id", "2a"), `line 3: id "2a"`},
		{"id with a leading zero", "a.csv", csvOf("id", "02"), `line 3: id "02"`},
		{"id twice", "a.csv", csvOf("id", "1"), "line 3: id 1 is already on line 2"},
		{"price with three decimals", "a.csv", csvOf("sk_price", "1.005"), `line 3: sk_price "1.005": want yuan`},
		{"price zero", "a.csv", csvOf("sk_price", "0"), "line 3: sk_price 0.00: want 0.01"},
		{"price negative", "a.csv", csvOf("price", "-1"), `line 3: price "-1"`},
		{"price with an exponent", "a.json", jsonOf("sk_price", "1e2"), `element 2 (line 3): sk_price "1e2"`},
		{"time without a zone", "a.csv", csvOf("start_time", "2026-11-11 12:00:00"),
			`line 3: start_time "2026-11-11 12:00:00": want a time`},
		{"end before start", "a.csv", csvOf("end_time", "2026-11-10T12:00:00Z"), "line 3: start_time"},
		{"stock zero", "a.csv", csvOf("stock", "0"), "line 3: stock 0: want 1 to 1000000"},
		{"stock too large", "a.csv", csvOf("stock", "1000001"), "line 3: stock 1000001"},
		{"stock not whole", "a.json", jsonOf("stock", "3.0"), `element 2 (line 3): stock "3.0": want a whole number`},
		{"limit zero", "a.csv", csvOf("limit", "0"), "line 3: limit 0"},
		{"title empty", "a.csv", csvOf("title", " "), "line 3: title"},
		{"title no text", "a.json", jsonOf("title", "7"), "element 2 (line 3): title: want a text"},
		{"cover a script", "a.csv", csvOf("covers", "javascript:alert(1)"), "line 3: cover"},
		{"covers no array", "a.json", jsonOf("covers", `"x"`), "element 2 (line 3): covers: want an array of texts"},
		{"commodity id", "a.csv", csvOf("commodity_id", "x"), "line 3: commodity id"},
		{"checks unknown", "a.json", jsonOf("checks", `"lax"`),
			`element 2 (line 3): checks "lax": want off, standard or strict`},
		{"family no id", "a.json", jsonOf("family", "0"), `element 2 (line 3): family "0"`},
		{"options without a family", "a.json", jsonOf("options", `"a=b"`), "element 2 (line 3): family: options"},
		{"options without a value", "a.json", jsonOf("options", `"a"`), `element 2 (line 3): options "a": want name=value`},
		{"limit_spans neither true nor false", "a.json", jsonOf("limit_spans", "1"),
			`element 2 (line 3): limit_spans "1": want true or false`},
		{"field missing", "a.json", jsonOf("limit", "-"), "element 2 (line 3): limit is missing"},
		{"field unknown", "a.json", jsonOf("stocks", "1"), `element 2 (line 3): "stocks" is not a column`},
		{"element no object", "a.json", "[1]", "element 1 (line 1): want an object"},
		{"element null", "a.json", "[null]", "element 1 (line 1): want an object"},
		{"no array", "a.json", "{}", "line 1: want an array"},
		{"broken JSON", "a.json", "[\n{\n\"id\" 1}]", "line 3: not JSON"},
		{"cut JSON", "a.json", "[\n" + element(1, nil), "line 2: not JSON: the file ends too early"},
		{"two arrays", "a.json", "[" + element(1, nil) + "]\n[]", "something follows the array"},
		{"several bad lines", "a.csv", header + row(1, set("stock", "0")) + row(2, nil) + row(3, set("limit", "x")),
			`a.csv: line 2: stock 0: want 1 to 1000000; line 4: limit "x": want a whole number`},
		{"very many bad lines", "a.csv", header + strings.Repeat(row(1, set("stock", "x")), 25), "; and 15 more"},
		{"too many items", "a.csv", header + strings.Repeat(row(1, nil), seckill.MaxItems+1),
			"more than 1000 items"},
		{"a file of the limit that is cut", "a.json", "[" + strings.Repeat(element(1, nil)+",", seckill.MaxItems-1) +
			element(1, nil), "the file ends too early"},
		{"too many elements", "a.json", "[0" + strings.Repeat(",0", MaxSize/2-10) + "]", "more than 1000 items"},
	}
	for _, tt := range tests {
		t.Run(tt.behaviour, func(t *testing.T) {
			t.Parallel()
			items, err := Parse(tt.name, []byte(tt.data), now)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") ||
				items != nil {
				t.Errorf("Parse gave %d items and %v; want none and one line with %q", len(items), err, tt.want)
			}
		})
	}
}

// TestQuestions: both formats read the same questions, and name the line and the question that nobody could answer.
func TestQuestions(t *testing.T) {
	t.Parallel()
	head := strings.TrimSuffix(header, "\n") + ",questions\n"
	csvOf := func(cell string) string {
		return head + strings.ReplaceAll(row(1, nil), "\n", ",\n") + strings.ReplaceAll(row(2, nil), "\n", `,"`+cell+`"`)
	}
	jsonOf := func(value string) string {
		return "[\n" + element(1, nil) + ",\n" + element(2, map[string]string{"questions": value}) + "\n]"
	}
	want := []seckill.Question{{Text: "3 + 4 = ?", Answers: []string{"7", "七"}},
		{Text: "首都？", Answers: []string{"北京"}}}
	for name, data := range map[string]string{
		"a.csv":  csvOf("3 + 4 = ? = 7 |七\n\n 首都？=北京\n"),
		"a.json": jsonOf(`[{"text": "3 + 4 = ?", "answers": ["7", "七"]}, {"text": "首都？", "answers": ["北京"]}]`),
	} {
		got, err := Parse(name, []byte(data), now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got[1].Questions); diff != "" || len(got[0].Questions) != 0 {
			t.Errorf("%s: %v; -want +got\n%s", name, got[0].Questions, diff)
		}
		again, err := Parse("a.json", Format(got), now)
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s, written and read: %v; -want +got\n%s", name, err, diff)
		}
	}
	if got, err := Parse("a.json", []byte(jsonOf("[]")), now); err != nil || got[1].Questions == nil {
		t.Errorf("an empty array drops none: %v", err)
	}
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ name, data, want string }{
		{"a.csv", csvOf("x = 1\nwho"), "line 3: question 2: want text = answer | answer"},
		{"a.csv", csvOf("x = 1\nwho ="), "line 3: question 2: answer 1: want 1 to 100 characters"},
		{"a.csv", csvOf("x = 1 | "), "line 3: question 1: answer 2: want"},
		{"a.csv", csvOf("= 1"), `line 3: question 1: text "": want`},
		{"a.csv", csvOf("x? = 1\nX？= 2"), "line 3: question 2 is question 1 again"},
		{"a.csv", csvOf("x\x00 = 1"), "line 3: question 1: text"},
		{"a.csv", csvOf("x = 1\u0085" + "2"), "line 3: question 1: answer 1"},
		{"a.csv", csvOf(long(201) + " = 1"), "line 3: question 1: text"},
		{"a.csv", csvOf("x = " + long(101)), "line 3: question 1: answer 1"},
		{"a.csv", csvOf("x = " + strings.Repeat("1|", 10) + "1"), "line 3: question 1: 11 answers: want 1 to 10"},
		{"a.json", jsonOf(`[{"text": "x", "answers": []}]`), "element 2 (line 3): question 1: 0 answers: want 1 to 10"},
		{"a.json", jsonOf(`[{"text": "x"}]`), "question 1 has no answers"},
		{"a.json", jsonOf(`[{"text": "x", "answer": "1"}]`), "element 2 (line 3): questions: want an array of"},
		{"a.json", jsonOf(`[null]`), "questions: want an array of"},
		{"a.json", jsonOf(`"x = 1"`), "questions: want an array of"},
		{"a.json", jsonOf(`[{"text": "x", "answers": ["\u202e"]}]`), "question 1: answer 1"},
		{"a.json", jsonOf("[" + strings.Repeat(`{"text": "x", "answers": ["1"]},`, seckill.MaxQuestions) +
			`{"text": "x", "answers": ["1"]}]`), "1001 questions: want at most 1000"},
	} {
		if items, err := Parse(c.name, []byte(c.data), now); err == nil || !strings.Contains(err.Error(), c.want) ||
			items != nil {
			t.Errorf("%.60q…: %v, want %s", c.data[len(head):], err, c.want)
		}
	}
}

func TestReadTakesAFileFromDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "items.csv")
	if _, err := Read(path, now); err == nil {
		t.Error("a missing file was read")
	}
	must.OK(t, os.WriteFile(path, []byte(header+row(1, nil)+row(2, nil)), 0o600))
	items, err := Read(path, now)
	if err != nil || len(items) != 2 {
		t.Errorf("got %d items, %v; want 2", len(items), err)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]seckill.Checks{"": seckill.ChecksOff, "off": seckill.ChecksOff,
		"standard": seckill.ChecksStandard, "strict": seckill.ChecksStrict} {
		data := "id,title,price,sk_price,start_time,end_time,stock,limit,checks\n" +
			"1,表,2,1,2026-11-11T12:00:00Z,2026-11-12T12:00:00Z,3,1," + text + "\n"
		got, err := Parse("a.csv", []byte(data), now)
		if err != nil || got[0].Checks != want {
			t.Fatalf("%q: %+v, %v", text, got, err)
		}
		again, err := Parse("a.json", Format(got), now)
		if err != nil || again[0].Checks != want {
			t.Errorf("%q, written and read: %+v, %v", text, again, err)
		}
	}
}

// BenchmarkTooManyElements: a file of 5 MiB that is refused costs about as much as reading its first thousand elements.
func BenchmarkTooManyElements(b *testing.B) {
	data := []byte("[0" + strings.Repeat(",0", MaxSize/2-10) + "]")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("a.json", data, time.Now()); err == nil {
			b.Fatal("taken")
		}
	}
}
