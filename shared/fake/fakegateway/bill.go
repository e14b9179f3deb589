package fakegateway

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/seckill"
)

// billURLFor is how long a bill's URL works ("查询对账单下载地址": 30 seconds).
const billURLFor = 30 * time.Second

// billHeader is the header line of a bill's details.
const billHeader = "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）," +
	"支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称," +
	"商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注"

// movement is one line of a bill.
type movement struct {
	trade  Trade
	refund string // out_request_no of a refund; "" for a payment
	amount seckill.Fen
	at     time.Time
}

// movements returns a day's movements in the order in which they happened. ErrUnavailable.
func (g *Gateway) movements(ctx context.Context, on string) ([]movement, error) {
	keys, err := g.store.Moved(ctx, on)
	if err != nil {
		return nil, unavailable(err)
	}
	var out []movement
	for _, k := range keys {
		r, err := g.load(ctx, k)
		if err != nil {
			return nil, err
		}
		all := []movement{{r.Trade, "", r.Amount, r.Paid}}
		for _, back := range r.Refunds {
			all = append(all, movement{r.Trade, back.RequestNo, -back.Amount, back.At})
		}
		for _, m := range all {
			if seckill.Day(m.at) == on {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b movement) int { return a.at.Compare(b.at) })
	return out, nil
}

// base returns the URL under which the gateway's paths are: Options.URL, or else the scheme and host of the request.
func (g *Gateway) base(r *http.Request) string {
	if g.opt.URL != "" {
		return strings.TrimSuffix(g.opt.URL, callPath)
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// callBill implements alipay.data.dataservice.bill.downloadurl.query, for the trade bill of a day that is over.
func (g *Gateway) callBill(ctx context.Context, c *content, base string) (node, error) {
	now := g.opt.Clock.Now()
	if d, err := time.Parse(time.DateOnly, c.BillDate); err != nil || d.Format(time.DateOnly) != c.BillDate ||
		c.BillType != "trade" {
		return node{}, ErrContent
	}
	if c.BillDate >= seckill.Day(now) {
		return node{}, ErrNoBill
	}
	// keys only: a caller waits a few seconds, a download may take longer
	moved, err := g.store.Moved(ctx, c.BillDate)
	if err != nil {
		return node{}, unavailable(err)
	}
	if len(moved) == 0 {
		return node{}, ErrNoBill
	}
	until := strconv.FormatInt(now.Add(billURLFor).UnixMilli(), 10)
	n := success()
	n.BillURL = base + "/bill?" + url.Values{"day": {c.BillDate}, "until": {until},
		"token": {g.billToken(c.BillDate, until)}}.Encode()
	return n, nil
}

// billToken signs a bill's URL with the gateway's key, so that any gateway with the same key can verify it.
func (g *Gateway) billToken(day, until string) string {
	secret := sha256.Sum256(x509.MarshalPKCS1PrivateKey(g.key))
	mac := hmac.New(sha256.New, secret[:])
	fmt.Fprintf(mac, "bill %s %s", day, until)
	return hex.EncodeToString(mac.Sum(nil))
}

// serveBill serves the download: 403 if the URL is not signed or has expired.
func (g *Gateway) serveBill(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	on, until := q.Get("day"), q.Get("until")
	ms, err := strconv.ParseInt(until, 10, 64)
	if err != nil || !hmac.Equal([]byte(q.Get("token")), []byte(g.billToken(on, until))) ||
		g.opt.Clock.Now().After(time.UnixMilli(ms)) {
		http.Error(w, "this address is not good any more", http.StatusForbidden)
		return
	}
	moved, err := g.movements(r.Context(), on)
	if err != nil {
		g.note(r.Context(), err)
		http.Error(w, "the bill cannot be read now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+on+`.zip"`)
	if err := writeBill(w, g.opt.SellerID, on, g.opt.Clock.Now(), moved); err != nil {
		panic(http.ErrAbortHandler) // abort, because the client has received an incomplete file
	}
}

// writeBill writes a bill's ZIP, with details and summary in GBK.
func writeBill(w io.Writer, seller, on string, made time.Time, moved []movement) error {
	z := zip.NewWriter(w)
	account := seller + "0156" // an account number is the seller's id followed by four digits
	from, err := time.ParseInLocation(time.DateOnly, on, seckill.Zone)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		title, list string
		write       func(*bufio.Writer, []movement)
	}{{"业务明细", "业务明细列表", writeDetails}, {"业务明细(汇总)", "业务汇总列表", writeSummary}} {
		name, err := simplifiedchinese.GBK.NewEncoder().String(account + "_" + from.Format("20060102") + "_" + f.title +
			".csv")
		if err != nil {
			return err
		}
		entry, err := z.CreateHeader(&zip.FileHeader{Name: name, NonUTF8: true, Method: zip.Deflate, Modified: made})
		if err != nil {
			return err
		}
		out := bufio.NewWriter(simplifiedchinese.GBK.NewEncoder().Writer(entry))
		const layout = "[2006年01月02日 15:04:05]"
		fmt.Fprintf(out, "#支付宝%s查询\r\n#账号：[%s]\r\n#起始日期：%s   终止日期：%s\r\n", strings.TrimSuffix(f.list, "列表"), account,
			from.Format(layout), from.AddDate(0, 0, 1).Format(layout))
		fmt.Fprintf(out, "#-----------------------------------------%s----------------------------------------\r\n",
			f.list)
		f.write(out, moved)
		fmt.Fprintf(out, "#-----------------------------------------%s结束------------------------------------\r\n",
			f.list)
		t := sum(moved)
		fmt.Fprintf(out, "#交易合计：%d笔，商家实收共%s元，商家优惠共0.00元\r\n#退款合计：%d笔，商家实收退款共%s元，商家优惠退款共0.00元\r\n#导出时间：%s\r\n",
			t.payments, yuan(t.paid), t.refunds, yuan(t.returned), made.In(seckill.Zone).Format(layout))
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return z.Close()
}

// inGBK encodes text as GBK, with a question mark for each character that GBK lacks.
func inGBK(s string) string {
	enc := simplifiedchinese.GBK.NewEncoder()
	return strings.Map(func(r rune) rune {
		if _, err := enc.String(string(r)); err != nil {
			return '?'
		}
		return r
	}, s)
}

// totals are the sums of a bill; refunds count as negative.
type totals struct {
	payments, refunds int
	paid, returned    seckill.Fen
}

func sum(moved []movement) (t totals) {
	for _, m := range moved {
		if m.refund == "" {
			t.payments++
			t.paid += m.amount
		} else {
			t.refunds++
			t.returned += m.amount
		}
	}
	return t
}

// yuan formats an amount that may be negative.
func yuan(f seckill.Fen) string {
	if f < 0 {
		return "-" + (-f).Yuan()
	}
	return f.Yuan()
}

func writeDetails(w *bufio.Writer, moved []movement) {
	fmt.Fprintf(w, "%s\r\n", billHeader)
	for _, m := range moved {
		kind := "交易"
		if m.refund != "" {
			kind = "退款"
		}
		writeLine(w, m.trade.TradeNo, m.trade.OutTradeNo, kind, inGBK(m.trade.Subject), stamp(m.trade.Created),
			stamp(m.at), "", "", "", "", "*买家(138****0000)",
			yuan(m.amount), yuan(m.amount), "0.00", "0.00", "0.00", "0.00", "0.00", "", "0.00", "0.00", m.refund,
			"0.00", "0.00", "")
	}
}

func writeSummary(w *bufio.Writer, moved []movement) {
	t := sum(moved)
	fmt.Fprint(w, "门店编号,门店名称,交易订单总笔数,退款订单总笔数,订单金额（元）,商家实收（元）,支付宝优惠（元）,商家优惠（元）,卡消费金额（元）,服务费（元）,分润（元）,实收净额（元）\r\n")
	net := yuan(t.paid + t.returned)
	writeLine(w, "合计", "", strconv.Itoa(t.payments), strconv.Itoa(t.refunds), net, net, "0.00", "0.00", "0.00", "0.00",
		"0.00", net)
}

// writeLine writes fields as Alipay's bills do: with a tab after each.
func writeLine(w *bufio.Writer, fields ...string) {
	for i, f := range fields {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		if strings.ContainsAny(f, ",\"\r\n") {
			fmt.Fprintf(w, "\"%s\t\"", strings.ReplaceAll(f, `"`, `""`))
			continue
		}
		fmt.Fprintf(w, "%s\t", f)
	}
	fmt.Fprint(w, "\r\n")
}
