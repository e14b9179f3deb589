package alipay_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/driver/alipay"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

const (
	billDay    = "2026-01-01"
	billHeader = "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）," +
		"集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注"
	detailsName = "20880000000000010156_20260101_业务明细.csv"
	billAddress = "https://bills.example/downloadBillFile.resource?fileId=secret"
)

func gbk(t testing.TB, text string) string {
	return must.Get(simplifiedchinese.GBK.NewEncoder().String(text))
}

// billRow returns a line as real bills have it: with a tab after each field.
func billRow(trade, order, kind, title, done, amount, refundID string) string {
	return strings.Join([]string{trade, order, kind, title, "2026-01-01 09:59:58", done, "", "", "", "",
		"buy***@example.com", amount, amount, "0.00",
		"0.00", "0.00", "0.00", "0.00", "", "0.00", "0.00", refundID, "-0.53", "0.00", ""}, "\t,") + "\t"
}

// bill returns a details file with these lines.
func bill(rows ...string) string {
	head := []string{"#支付宝业务明细查询", "#账号：[20880000000000010156]",
		"#起始日期：[2026年01月01日 00:00:00]   终止日期：[2026年01月02日 00:00:00]",
		"#-----------------------------------------业务明细列表----------------------------------------", billHeader}
	tail := []string{"#-----------------------------------------业务明细列表结束------------------------------------",
		"#导出时间：[2026年01月02日 09:00:00]", ""}
	return strings.Join(append(append(head, rows...), tail...), "\r\n")
}

const rowLine = 6 // line number of the first of bill's rows

var goodRow = billRow(tradeNo, orderID, "交易", "红色外套", "2026-01-01 10:00:00", "88.80", "")

type zipped struct{ name, content string }

// archive zips files as Alipay does: names in GBK, not marked as UTF-8.
func archive(t testing.TB, files ...zipped) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: gbk(t, f.name), Method: zip.Deflate, NonUTF8: true})
		if err == nil {
			_, err = io.WriteString(w, gbk(t, f.content))
		}
		must.OK(t, err)
	}
	must.OK(t, z.Close())
	return out.Bytes()
}

// provider answers the call for a bill with node, and every other request with download.
func provider(t testing.TB, node string, download http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "gateway.example" {
			download(w, r)
			return
		}
		_, _ = io.WriteString(w, envelopeOf(t, alipay.MethodBill, node))
	})
}

func billNode(address string) string {
	b, _ := json.Marshal(map[string]string{"code": "10000", "msg": "Success", "bill_download_url": address})
	return string(b)
}

func sends(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(body) }
}

func TestParseBillReadsMovements(t *testing.T) {
	at := time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)
	refundID := seckill.RefundID(orderID, tradeNo)
	paid := seckill.BillLine{Order: orderID, TradeNo: tradeNo, Amount: 88_80, At: at}
	back := seckill.BillLine{Order: orderID, TradeNo: tradeNo, Amount: 88_80, At: at.Add(time.Hour), Refund: true,
		RefundID: refundID}
	backRow := billRow(tradeNo, orderID, "退款", "红色外套", "2026-01-01 11:00:00", "-88.80", refundID)
	titled := func(title string) string {
		return billRow(tradeNo, orderID, "交易", title, "2026-01-01 10:00:00", "88.80", "")
	}
	for name, tc := range map[string]struct {
		text string
		want []seckill.BillLine
	}{
		"payments and refunds": {bill(goodRow, backRow, goodRow), []seckill.BillLine{paid, back, paid}},
		"nothing":              {bill(), nil},
		"no comments":          {billHeader + "\n" + goodRow, []seckill.BillLine{paid}},
		"no tabs":              {bill(strings.ReplaceAll(goodRow, "\t", "")), []seckill.BillLine{paid}},
		"quotes": {bill(`"` + strings.ReplaceAll(goodRow, "\t,", `","`) + `"`),
			[]seckill.BillLine{paid}},
		"quotes, tabs inside": {bill(`"` + strings.ReplaceAll(strings.TrimSuffix(goodRow, "\t"), "\t,",
			"\t\",\"") + `"`), []seckill.BillLine{paid}},
		"quotes, tabs outside": {bill(`"` + strings.ReplaceAll(strings.TrimSuffix(goodRow, "\t"), "\t,",
			"\"\t, \"") + "\"\t"), []seckill.BillLine{paid}},
		"a comma in quotes":         {bill(titled(`"外套,大码"`)), []seckill.BillLine{paid}},
		"doubled quotes":            {bill(titled(`"""Pro"", 耳机"`)), []seckill.BillLine{paid}},
		"a quote in the title":      {bill(titled(`外套 "Pro"`)), []seckill.BillLine{paid}},
		"a title in part in quotes": {bill(titled(`"Pro" 外套`)), []seckill.BillLine{paid}},
		"a # in the title":          {bill(titled("#1")), []seckill.BillLine{paid}},
		"blank lines":               {bill("", goodRow, "\t", goodRow), []seckill.BillLine{paid, paid}},
		"ASCII brackets": {strings.NewReplacer("（", "(", "）", ")").Replace(bill(goodRow)),
			[]seckill.BillLine{paid}},
		"columns in another order and more": {
			"备注,退款批次号/请求号,订单金额（元）,新,完成时间,业务类型,商户订单号,支付宝交易号\n,,88.80,x,2026-01-01 10:00:00,交易," +
				orderID + "," + tradeNo, []seckill.BillLine{paid}},
		"a refund from the provider's console": {bill(billRow(tradeNo, orderID, "退款", "", "2026-01-01 11:00:00",
			"-0.01", "")),
			[]seckill.BillLine{{Order: orderID, TradeNo: tradeNo, Amount: 1, At: at.Add(time.Hour), Refund: true}}},
		"the day's last second": {bill(billRow(tradeNo, orderID, "交易", "", "2026-01-01 23:59:59", "100000000.00", "")),
			[]seckill.BillLine{{Order: orderID, TradeNo: tradeNo, Amount: seckill.MaxFen, At: time.Date(2026, 1, 1, 15,
				59, 59, 0, time.UTC)}}},
	} {
		got := must.Get(alipay.ParseBill(strings.NewReader(gbk(t, tc.text)), billDay))
		must.Equal(t, seckill.Bill{Lines: tc.want}, got, name)
	}
}

// TestParseBillCountsTheLinesOfOthers checks that lines of a seller's other shops, whatever they hold, do not keep the
// shop's own from being read.
func TestParseBillCountsTheLinesOfOthers(t *testing.T) {
	titled := func(title string) string {
		return billRow(tradeNo, "T2026-99", "交易", title, "2026-01-01 10:00:00", "5.00", "")
	}
	others := []string{
		billRow(tradeNo, "店-2026/1", "交易", "", "2026-01-01 10:00:00", "88.80", ""),
		billRow(tradeNo, "", "退款", "", "2026-01-01 11:00:00", "-0.01", ""),
		billRow(tradeNo, orderID+"2", "交易", "", "2026-01-01 10:00:00", "0.00", ""),
		billRow("", "2026", "撤销", "", "", "", strings.Repeat("1", 65)),
		billRow(tradeNo, strings.Repeat("1", 65), "退款(交易退款)", "", "x", `"1,005.00"`, ""),
		billRow(tradeNo, "a\x00b", "", "", "", "1,005.00", ""),
		titled("Tea, green"), titled(`"Tea", "green`), titled(`19" x`), titled(strings.Repeat(",", 200)),
		titled("补差价 " + orderID), titled("补, " + orderID + ", x"), titled(strings.Repeat("x", 100<<10)),
		titled("#起始日期"),
		"合计", "合计,1笔,5.00", `"`, ",", strings.Repeat(",", 24), strings.Repeat("\",\"", 300), billHeader,
	}
	bytes := gbk(t, bill(append(others, goodRow)...))
	got, err := alipay.ParseBill(strings.NewReader(bytes), billDay)
	if err != nil || got.Others != len(others) || len(got.Lines) != 1 || got.Lines[0].Order != orderID {
		t.Errorf("%+v, %v, want one line, and %d of others", got, err, len(others))
	}
	for name, line := range map[string]string{"not GBK": "\xff\xfe,\x80,\xba", "in UTF-8": titled("茶，绿"),
		"cut in a character":     gbk(t, titled("茶"))[:70],
		"a title over two lines": gbk(t, titled("\"红\r\n#起始日期：[2025年\""))} {
		bytes := strings.Replace(gbk(t, bill("@", goodRow)), "@", line, 1)
		got, err := alipay.ParseBill(strings.NewReader(bytes), billDay)
		if err != nil || got.Others == 0 || len(got.Lines) != 1 {
			t.Errorf("%s: %+v, %v, want one line", name, got, err)
		}
	}
}

// TestParseBillReadsCommas covers texts with commas that nobody quoted. A line is read if only one reading makes sense
// of all amounts and times.
func TestParseBillReadsCommas(t *testing.T) {
	const fields = 25
	refundRow := billRow(tradeNo, orderID, "退款", "红色外套", "2026-01-01 11:00:00", "-88.80", refund().ID)
	row := func(from string, at int, value string) string {
		f := strings.Split(from, "\t,")
		f[at] = value
		return strings.Join(f, "\t,")
	}
	for name, tc := range map[string]struct {
		line string
		read bool
	}{
		"title":                    {row(goodRow, 3, "Coat, red"), true},
		"title with many":          {row(goodRow, 3, "Coat, red, XL,,"), true},
		"title like an amount":     {row(goodRow, 3, "Coat, 5.00"), true},
		"title like a time":        {row(goodRow, 3, "Coat,2026-01-01 10:00:00"), false},
		"title with an id":         {row(goodRow, 3, "Coat, "+otherID), true},
		"counterparty":             {row(goodRow, 10, "Smith, John"), true},
		"coupon":                   {row(goodRow, 18, "满100,减5"), true},
		"remark":                   {row(goodRow, 24, "a, b"), true},
		"refund's title":           {row(refundRow, 3, "Coat, red"), true},
		"refund's coupon":          {row(refundRow, 18, "满100,减5"), true},
		"one too many at the end":  {goodRow + ",", true},
		"coupon of two amounts":    {row(goodRow, 18, "5.00,5.00"), true},
		"two texts":                {row(row(goodRow, 3, "Coat, red"), 18, "满100,减5"), false},
		"amount of thousands":      {row(goodRow, 11, "1,105.00"), false},
		"both of thousands":        {row(row(goodRow, 11, "1,105.00"), 12, "1,105.00"), false},
		"a refund of thousands":    {row(refundRow, 11, "-1,105.00"), false},
		"a time with a comma":      {row(goodRow, 5, "2026-01-01 10:00:00,5"), true},
		"far too many":             {row(goodRow, 3, strings.Repeat(",", 200)), false},
		"refund, number in pieces": {row(refundRow, 21, "a,b"), false},
	} {
		got, err := alipay.ParseBill(strings.NewReader(gbk(t, bill(tc.line))), billDay)
		want := must.Get(alipay.ParseBill(strings.NewReader(gbk(t, bill(goodRow))), billDay))
		if strings.Contains(name, "refund") {
			want = must.Get(alipay.ParseBill(strings.NewReader(gbk(t, bill(refundRow))), billDay))
		}
		if tc.read && err != nil || tc.read && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
		if unread := (seckill.UnreadLines{}); !tc.read && (!errors.As(err, &unread) || len(got.Lines) > 0 ||
			got.Others > 0 || unread[0].Line != rowLine || unread[0].Order != orderID) {
			t.Errorf("%s: got %+v, %v, want the line named", name, got, err)
		}
	}
	must.Equal(t, fields, len(strings.Split(billHeader, ",")))
}

func TestParseBillRefusesWhatIsNoBill(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no header":             {"#支付宝业务明细查询\n", "no header"},
		"empty":                 {"", "no header"},
		"header without amount": {strings.Replace(bill(goodRow), "订单金额（元）", "金额", 1), "line 5: header without 订单金额(元)"},
		"header with a column twice": {strings.Replace(bill(goodRow), "备注", "业务类型", 1),
			"line 5: header with 业务类型 twice"},
		"far too wide": {strings.Replace(bill(goodRow), "备注", strings.Repeat(",", 100), 1),
			"line 5: header with 100 fields or more"},
		"a summary's file": {strings.Replace(bill(), billHeader, "门店编号,门店名称,交易订单总笔数", 1), "line 5: header without"},
		"another day": {strings.Replace(bill(), "起始日期：[2026年01月01日", "起始日期：[2026年01月02日", 1),
			"line 3: a bill from another day"},
		"a month": {strings.Replace(bill(), "起始日期：[2026年01月01日", "起始日期：[2026年01月", 1),
			"line 3: a bill from another day"},
	} {
		for _, text := range []string{tc.text, gbk(t, tc.text)} {
			got, err := alipay.ParseBill(strings.NewReader(text), billDay)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || got.Lines != nil {
				t.Errorf("%s: got %v, %v, want %q", name, got, err, tc.want)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader(bill(goodRow, goodRow)), iotest.ErrReader(errors.New("reset")))
	if got, err := alipay.ParseBill(broken, billDay); err == nil || err.Error() != "after line 9: reset" ||
		got.Lines != nil {
		t.Errorf("got %+v, %v, want no bill", got, err)
	}
}

// TestParseBillNamesTheLineThatIsWrong checks that the lines around one of the shop's that cannot be read are read.
func TestParseBillNamesTheLineThatIsWrong(t *testing.T) {
	row := func(change func([]string)) string {
		f := strings.Split(goodRow, "\t,")
		change(f)
		return strings.Join(f, "\t,")
	}
	set := func(i int, value string) string { return row(func(f []string) { f[i] = value }) }
	for name, tc := range map[string]struct{ line, want string }{
		"a field too few": {strings.Replace(goodRow, "\t,", "", 1), "24 fields, the header has 25"},
		"a time too few": {strings.Replace(goodRow, "2026-01-01 10:00:00\t,", "", 1),
			"24 fields, the header has 25"},
		"a quote that is open":  {row(func(f []string) { f[3], f[18] = `"外套`, `x"` }), "10 fields"},
		"only the order":        {"," + orderID, "2 fields"},
		"order in odd quotes":   {set(1, "`"+orderID), "商户订单号"},
		"order as a formula":    {set(1, `="`+orderID+`"`), "商户订单号"},
		"no trade number":       {set(0, ""), "支付宝交易号"},
		"odd trade number":      {set(0, "2026-01"), "支付宝交易号"},
		"unknown kind":          {set(2, "撤销"), `业务类型 "撤销"`},
		"no kind":               {set(2, ""), "业务类型"},
		"exponent":              {set(11, "1e2"), "订单金额(元)"},
		"three decimals":        {set(11, "88.880"), "订单金额(元)"},
		"negative payment":      {set(11, "-88.80"), "订单金额(元)"},
		"full-width digits":     {set(11, "８８.８８"), "订单金额(元)"},
		"thousands":             {set(11, `"1,000.00"`), "订单金额(元)"},
		"no amount":             {set(11, ""), "订单金额(元)"},
		"nothing moved":         {set(11, "0.00"), "订单金额(元)"},
		"positive refund":       {set(2, "退款"), "订单金额(元)"},
		"refund twice negative": {row(func(f []string) { f[2], f[11] = "退款", "--88.80" }), "订单金额(元)"},
		"long refund number": {row(func(f []string) {
			f[2], f[11], f[21] = "退款", "-1.00", strings.Repeat("1", 65)
		}), "退款批次号/请求号"},
		"no time":              {set(5, ""), "完成时间"},
		"time without seconds": {set(5, "2026-01-01 10:00"), "完成时间"},
		"time with a fraction": {set(5, "2026-01-01 10:00:00.5"), "完成时间"},
		"short hour":           {set(5, "2026-01-01 1:00:00"), "完成时间"},
		"no such day":          {set(5, "2026-02-30 10:00:00"), "完成时间"},
		"long line":            {set(24, strings.Repeat("x", 64<<10)), "longer than 65536 bytes"},
		"far longer line":      {set(24, strings.Repeat("x", 1<<20)), "longer than 65536 bytes"},
	} {
		got, err := alipay.ParseBill(strings.NewReader(gbk(t, bill(goodRow, tc.line, goodRow, tc.line))), billDay)
		want := fmt.Sprintf("line %d: order %s: %s", rowLine+1, orderID, tc.want)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "; and 1 more lines") ||
			len(got.Lines) != 2 || got.Others != 0 {
			t.Errorf("%s: got %v, %v, want %q", name, got, err, want)
		}
	}
	over := bill(goodRow, set(3, "\"外\r\n套\""), goodRow) // the rest of it is nobody's
	if got, err := alipay.ParseBill(strings.NewReader(gbk(t, over)), billDay); err == nil || len(got.Lines) != 2 ||
		got.Others != 1 {
		t.Errorf("a title over two lines: %+v, %v, want it named", got, err)
	}
	bad := strings.Replace(gbk(t, bill(goodRow)), gbk(t, "红色外套"), "\xba", 1) // a title cut within a character
	must.Equal(t, 1, len(must.Get(alipay.ParseBill(strings.NewReader(bad), billDay)).Lines),
		"bytes that are not GBK in a title")
	must.Equal(t, 1, len(must.Get(alipay.ParseBill(strings.NewReader(bill(goodRow)), billDay)).Lines), "a bill in UTF-8")
}

func TestBillIsAskedForDownloadedAndRead(t *testing.T) {
	body := archive(t, zipped{detailsName, bill(goodRow)}, zipped{"20880000000000010156_20260101_业务明细(汇总).csv", "汇总"},
		zipped{"说明.txt", "x"})
	for name, tc := range map[string]struct{ address, want string }{
		"HTTPS":                        {billAddress, billAddress},
		"Alipay's pages have it so":    {strings.Replace(billAddress, "https:", "http:", 1), billAddress},
		"a port":                       {"https://bills.example:8443/x", "https://bills.example:8443/x"},
		"characters that JSON escapes": {"https://bills.example/a?b=1&c=<%3E", "https://bills.example/a?b=1&c=<%3E"},
	} {
		asked := ""
		h := provider(t, billNode(tc.address), func(w http.ResponseWriter, r *http.Request) {
			asked = r.Method + " " + r.URL.String()
			if deadline, ok := r.Context().Deadline(); !ok || time.Until(deadline) > alipay.DownloadTimeout {
				t.Errorf("%s: download without a deadline", name)
			}
			_, _ = w.Write(body)
		})
		got, err := client(t, h, &clock{start}).Bill(context.Background(), billDay)
		if err != nil || len(got.Lines) != 1 || got.Lines[0].TradeNo != tradeNo || asked != "GET "+tc.want {
			t.Errorf("%s: got %+v, %v from %q, want it from %s", name, got, err, asked, tc.want)
		}
	}
	var form url.Values
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		form = r.PostForm
		w.WriteHeader(http.StatusTeapot)
	})
	if _, err := client(t, h, &clock{start}).Bill(context.Background(), billDay); err == nil {
		t.Error("no error")
	}
	if got := form.Get("biz_content"); got != `{"bill_type":"trade","bill_date":"2026-01-01"}` ||
		form.Get("method") != alipay.MethodBill {
		t.Errorf("asked %s %s", form.Get("method"), got)
	}
}

func TestBillThatIsNotThere(t *testing.T) {
	for node, there := range map[string]bool{
		`{"code":"40004","msg":"Business Failed","sub_code":"isp.bill_not_exist","sub_msg":"账单不存在"}`: false,
		`{"code":"40004","sub_code":"BILL_NOT_EXIST"}`:                                               false,
		`{"code":"20000","sub_code":"isp.bill_not_exist"}`:                                           true,
		`{"code":"20000","sub_code":"isp.unknow-error"}`:                                             true,
		`{"code":"40004","sub_code":"isv.invalid_arguments"}`:                                        true,
		`{"code":"40006","sub_code":"isv.insufficient-isv-permissions"}`:                             true,
		`{"bill_download_url":"` + billAddress + `"}`:                                                true,
		`{"code":"10000"}`: true,
	} {
		h := provider(t, node, func(http.ResponseWriter, *http.Request) { t.Errorf("%s: a download", node) })
		got, err := client(t, h, &clock{start}).Bill(context.Background(), billDay)
		if err == nil || got.Lines != nil || errors.Is(err, seckill.ErrNoBill) == there {
			t.Errorf("%s: got %v, %v, want ErrNoBill: %t", node, got, err, !there)
		}
	}
	none := client(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a call") }), &clock{start})
	for _, day := range []string{"", "2026-01", "2026-1-1", "2026-02-30", "20260101", "2026-01-01 00:00:00"} {
		if _, err := none.Bill(context.Background(), day); err == nil || errors.Is(err, seckill.ErrNoBill) {
			t.Errorf("day %q: %v, want an error", day, err)
		}
	}
}

func TestBillRefusesOddAddresses(t *testing.T) {
	for _, address := range []string{"", "bills.example/x", "//bills.example/x", "ftp://bills.example/x",
		"file:///etc/passwd", "https:///x",
		"http://bills.example:8080/x", "https://user:secret@bills.example/x", "https://bills.example/\x7f", ":"} {
		h := provider(t, billNode(address), func(http.ResponseWriter, *http.Request) {
			t.Errorf("%q: a download", address)
		})
		if got, err := client(t, h, &clock{start}).Bill(context.Background(), billDay); err == nil ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, %v", address, got, err)
		}
	}
}

func TestBillDownloadTrouble(t *testing.T) {
	good := archive(t, zipped{detailsName, bill(goodRow)})
	broken := bytes.Clone(good)
	broken[len(broken)/3] ^= 1
	summary := zipped{"20880000000000010156_20260101_业务明细(汇总).csv", "x"}
	for name, download := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500); _, _ = w.Write(good) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("a redirect was followed")
			}
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
		"nothing":       sends(nil),
		"an error page": sends([]byte("<html>expired</html>")),
		"cut off":       sends(good[:len(good)-30]),
		"damaged":       sends(broken),
		"too long":      sends(append(make([]byte, alipay.MaxArchive), good...)),
		"no file":       sends(archive(t)),
		"no details":    sends(archive(t, summary)),
		"details twice": sends(archive(t, zipped{detailsName, bill(goodRow)},
			zipped{"2_业务明细.csv", bill(goodRow)})),
		"an unknown file":    sends(archive(t, zipped{detailsName, bill(goodRow)}, zipped{"业务明细_2.txt", "x"})),
		"far too many":       sends(archive(t, make([]zipped, 100)...)),
		"an unreadable line": sends(archive(t, zipped{detailsName, bill("," + orderID)})),
		"a bomb":             sends(lying(t, alipay.MaxBill+1)),
		"a bomb that lies":   sends(lying(t, 100)),
	} {
		got, err := client(t, provider(t, billNode(billAddress), download), &clock{start}).Bill(context.Background(),
			billDay)
		if err == nil || got.Lines != nil || errors.Is(err, seckill.ErrNoBill) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, %v, want an error without the address", name, got, err)
		}
	}
	for name, reply := range map[string]func() (*http.Response, error){
		"connection refused": func() (*http.Response, error) { return nil, errors.New("connection refused") },
		"connection cut": func() (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK,
				Body: io.NopCloser(io.MultiReader(bytes.NewReader(good[:50]),
					iotest.ErrReader(errors.New("connection reset"))))}, nil
		},
	} {
		conf := config(nil, &clock{start})
		conf.HTTP = &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "gateway.example" {
				return transport{provider(t, billNode(billAddress), nil)}.RoundTrip(r)
			}
			return reply()
		})}
		c := must.Get(alipay.New(conf))
		got, err := c.Bill(context.Background(), billDay)
		if err == nil || got.Lines != nil || strings.Contains(err.Error(), "secret") ||
			!strings.Contains(err.Error(), "download from bills.example: connection") {
			t.Errorf("%s: got %v, %v, want the host and not the address", name, got, err)
		}
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// lying returns a ZIP whose details file of about 1,000 bytes declares another size.
func lying(t testing.TB, size uint64) []byte {
	t.Helper()
	honest := archive(t, zipped{detailsName, bill(goodRow, goodRow)})
	good := must.Get(zip.NewReader(bytes.NewReader(honest), int64(len(honest))))
	header := good.File[0].FileHeader
	raw := must.Get(good.File[0].OpenRaw())
	header.UncompressedSize64 = size
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateRaw(&header)
	if err == nil {
		_, err = io.Copy(w, raw)
	}
	if err == nil {
		err = z.Close()
	}
	must.OK(t, err)
	return out.Bytes()
}

// TestBillOfATestsGatewayNeedsNoTLS checks that a gateway without TLS may have bill URLs without TLS.
func TestBillOfATestsGatewayNeedsNoTLS(t *testing.T) {
	asked := ""
	conf := config(provider(t, billNode("http://127.0.0.1:7777/bill"), func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = w.Write(archive(t, zipped{detailsName, bill(goodRow)}))
	}), &clock{start})
	conf.Gateway = "http://gateway.example/gateway.do"
	c := must.Get(alipay.New(conf))
	if got, err := c.Bill(context.Background(), billDay); err != nil || len(got.Lines) != 1 ||
		asked != "http://127.0.0.1:7777/bill" {
		t.Errorf("got %v, %v from %q", got, err, asked)
	}
}
