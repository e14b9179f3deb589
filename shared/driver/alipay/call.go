package alipay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/your-org/seckill/shared/seckill"
)

// Answer codes ("公共错误码") and the sub codes that matter.
const (
	codeSuccess  = "10000"
	codeBusiness = "40004" // the call was executed and refused because of the trade's state
	subNotExist  = "ACQ.TRADE_NOT_EXIST"
	subCharge    = "ACQ.REFUND_CHARGE_ERROR"
)

// States of a trade (trade_status).
const (
	statusWait     = "WAIT_BUYER_PAY"
	statusSuccess  = "TRADE_SUCCESS"
	statusFinished = "TRADE_FINISHED"
	statusClosed   = "TRADE_CLOSED"
)

// tradeStates maps each trade_status. A fully refunded trade is closed too; a partly refunded one stays a success.
var tradeStates = map[string]seckill.TradeState{
	statusWait:     seckill.TradeWaiting,
	statusSuccess:  seckill.TradePaid,
	statusFinished: seckill.TradePaid,
	statusClosed:   seckill.TradeClosed,
}

// orderContent is the biz_content of query and close: one of its fields is set.
type orderContent struct {
	OutTradeNo string `json:"out_trade_no,omitempty"`
	TradeNo    string `json:"trade_no,omitempty"`
}

// text is a value that Alipay writes as a string or as a number: "88.88" or, as some of its samples have it, 88.88.
// Anything else is "", so that a value that the call does not need cannot fail it.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = ""
	var s string
	if b[0] == '"' && json.Unmarshal(b, &s) == nil {
		*t = text(s)
	} else if b[0] == '-' || b[0] >= '0' && b[0] <= '9' {
		*t = text(b)
	}
	return nil
}

// result is the common part of all answers.
type result struct {
	Code    text `json:"code"`
	SubCode text `json:"sub_code"`
}

// fault returns the error for a result that proves nothing.
func (r result) fault(method, about string) error {
	return fmt.Errorf("alipay: %s %s: code %.20q, sub_code %.80q", method, about, r.Code, r.SubCode)
}

// final reports whether the trade's own state causes the refusal, so that repeating the call cannot help. "AQC." is
// the prefix of one of Alipay's system errors. A refund whose fee cannot be charged ("退收费异常") should be repeated
// later, says Alipay.
func (r result) final() bool {
	sub := string(r.SubCode)
	return r.Code == codeBusiness && strings.HasPrefix(sub, "ACQ.") && !strings.HasSuffix(sub, "SYSTEM_ERROR") &&
		sub != subCharge
}

// tradeAnswer is the part of the answers to query and close that the client reads.
type tradeAnswer struct {
	result
	OutTradeNo  text `json:"out_trade_no"`
	TradeNo     text `json:"trade_no"`
	TradeStatus text `json:"trade_status"`
	TotalAmount text `json:"total_amount"`
}

// Query implements seckill.Payments with alipay.trade.query. Every error is a fault.
func (c *Client) Query(ctx context.Context, order string) (seckill.Trade, error) {
	a, err := c.trade(ctx, MethodQuery, order)
	if err != nil {
		return seckill.Trade{}, err
	}
	return a.read(order)
}

// Trade implements seckill.Trades with alipay.trade.query by trade_no. Every error is a fault.
func (c *Client) Trade(ctx context.Context, order, tradeNo string) (seckill.Trade, error) {
	if !validTradeNo(tradeNo) {
		return seckill.Trade{State: seckill.TradeUnknown}, nil
	}
	var a tradeAnswer
	if err := c.call(ctx, MethodQuery, order, orderContent{TradeNo: tradeNo}, &a); err != nil {
		return seckill.Trade{}, err
	}
	if err := a.same(sameness{"trade_no", a.TradeNo, tradeNo}); err != nil {
		return seckill.Trade{}, fmt.Errorf("alipay: %s %s: %w", MethodQuery, order, err)
	}
	if a.Code == codeSuccess && string(a.OutTradeNo) != order {
		return seckill.Trade{State: seckill.TradeUnknown}, nil
	}
	return a.read(order)
}

// read returns the trade in the answer to a query.
func (a *tradeAnswer) read(order string) (seckill.Trade, error) {
	if a.Code == codeBusiness && a.SubCode == subNotExist {
		return seckill.Trade{State: seckill.TradeUnknown}, nil
	}
	if a.Code != codeSuccess {
		return seckill.Trade{}, a.fault(MethodQuery, order)
	}
	state, known := tradeStates[string(a.TradeStatus)]
	amount, err := seckill.ParseYuan(string(a.TotalAmount))
	if !known || err != nil || !validTradeNo(string(a.TradeNo)) {
		return seckill.Trade{}, fmt.Errorf(
			"alipay: %s %s: unreadable answer: trade_status %.40q, total_amount %.40q, trade_no %.70q",
			MethodQuery, order, a.TradeStatus, a.TotalAmount, a.TradeNo)
	}
	return seckill.Trade{State: state, TradeNo: string(a.TradeNo), Amount: amount}, nil
}

// Close implements seckill.Payments with alipay.trade.close. Every error is a fault.
func (c *Client) Close(ctx context.Context, order string) (seckill.CloseResult, error) {
	a, err := c.trade(ctx, MethodClose, order)
	switch {
	case err != nil:
		return "", err
	case a.Code == codeSuccess:
		return seckill.CloseDone, nil
	case a.Code == codeBusiness && a.SubCode == subNotExist:
		return seckill.CloseMissing, nil
	case a.final():
		return seckill.CloseRefused, nil
	}
	return "", a.fault(MethodClose, order)
}

// trade makes a call about an order. If the answer is a success, it is about this order.
func (c *Client) trade(ctx context.Context, method, order string) (*tradeAnswer, error) {
	var a tradeAnswer
	if err := c.call(ctx, method, order, orderContent{OutTradeNo: order}, &a); err != nil {
		return nil, err
	}
	if err := a.same(sameness{"out_trade_no", a.OutTradeNo, order}); err != nil {
		return nil, fmt.Errorf("alipay: %s %s: %w", method, order, err)
	}
	return &a, nil
}

// sameness is a number in an answer and the number that the call was about.
type sameness struct {
	name  string
	got   text
	asked string
}

// same refuses an answer about another trade, order or refund: an attacker could replay a genuine one. A refusal may
// lack the number; a success must have it.
func (r result) same(numbers ...sameness) error {
	for _, n := range numbers {
		if string(n.got) != n.asked && (n.got != "" || r.Code == codeSuccess) {
			return fmt.Errorf("answer about another %s: %.70q", n.name, n.got)
		}
	}
	return nil
}

// call makes one signed call and decodes the part that Alipay signed into out. about names the subject in errors.
func (c *Client) call(ctx context.Context, method, about string, content, out any) error {
	if c.http.Timeout == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, CallTimeout)
		defer cancel()
	}
	fail := func(err error) error { return fmt.Errorf("alipay: %s %s: %w", method, about, err) }
	if err := c.inTime(); err != nil {
		return fail(err) // check before sending: the call would take effect, but its answer could not be read
	}
	form, err := SignedQuery(c.key, c.params(method, c.clock.Now(), content))
	if err != nil {
		return fail(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.gateway, strings.NewReader(form))
	if err != nil {
		return fail(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=utf-8")
	resp, err := c.http.Do(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxResponse+1))
	switch {
	case err != nil:
		return fail(err)
	case resp.StatusCode != http.StatusOK:
		return fail(fmt.Errorf("HTTP status %d", resp.StatusCode))
	}
	if err := c.readAnswer(body, method, out); err != nil {
		return fail(err)
	}
	return nil
}

// readAnswer extracts the method's node from a body, checks Alipay's signature over its bytes, and decodes these same
// bytes into out.
func (c *Client) readAnswer(body []byte, method string, out any) error {
	if len(body) > MaxResponse {
		return fmt.Errorf("answer longer than %d bytes", MaxResponse)
	}
	var parts answerParts
	var err error
	for _, plain := range readings(body) {
		if parts, err = splitAnswer(plain, strings.ReplaceAll(method, ".", "_")+"_response"); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := c.sameCert(string(parts.certSN)); err != nil {
		return err
	}
	node, sign := body[parts.at:parts.at+len(parts.node)], string(parts.sign)
	if err := CheckSign(c.alipay, node, sign); err != nil {
		// Alipay sometimes signs before it escapes slashes; its Java SDK (checkResponseSign) allows for this.
		if err := CheckSign(c.alipay, bytes.ReplaceAll(node, []byte(`\/`), []byte(`/`)), sign); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(parts.node, out); err != nil {
		return fmt.Errorf("unreadable answer: %w", err)
	}
	return nil
}

// readings returns what a body may say: itself and, if it is not UTF-8, first a copy of the same length with ? for each
// byte of a character of GBK or GB18030. Alipay answers in these whatever was asked for, mostly in sub_msg, and the
// second byte of such a character may be a backslash, which JSON would take for an escape. All that is read is ASCII.
// A text in the wrong charset cannot become a part of the JSON: for that, one of its quotes would have to follow a
// comma, a colon or a bracket at once, and Alipay writes a backslash before each.
func readings(body []byte) [][]byte {
	if utf8.Valid(body) {
		return [][]byte{body}
	}
	plain := bytes.Clone(body)
	within := func(i int, low, high byte) bool { return i < len(body) && body[i] >= low && body[i] <= high }
	for i := 0; i < len(body); i++ {
		if body[i] < utf8.RuneSelf {
			continue
		}
		size := 1
		switch lead := within(i, 0x81, 0xfe); {
		case lead && within(i+1, 0x40, 0xfe):
			size = 2
		case lead && within(i+1, '0', '9') && within(i+2, 0x81, 0xfe) && within(i+3, '0', '9'):
			size = 4
		}
		for end := i + size; i < end; i++ {
			plain[i] = '?'
		}
		i--
	}
	return [][]byte{plain, body}
}

// answerParts are the parts of an answer that are read: the bytes of its node and where they begin, the signature and,
// in certificate mode, the number of the certificate whose key signed.
type answerParts struct {
	node         json.RawMessage
	at           int
	sign, certSN text
}

// splitAnswer returns the parts of an answer with the named node. It refuses a second one of a part: otherwise the
// checked node and the decoded one could differ.
func splitAnswer(body []byte, name string) (p answerParts, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return p, errors.New("answer is not a JSON object")
	}
	var fault result
	read := map[string]any{name: &p.node, "sign": &p.sign, "alipay_cert_sn": &p.certSN, "error_response": &fault}
	seen := map[string]bool{}
	for dec.More() {
		var raw json.RawMessage
		key, err := dec.Token()
		if err == nil {
			err = dec.Decode(&raw)
		}
		if err != nil {
			return p, errors.New("answer is not a JSON object")
		}
		k := key.(string) // inside an object a decoder returns only string keys
		into, ok := read[k]
		if !ok {
			continue
		}
		if seen[k] {
			return p, fmt.Errorf("answer with %.40q twice", k)
		}
		seen[k] = true
		if k == name {
			p.at = int(dec.InputOffset()) - len(raw)
		}
		_ = json.Unmarshal(raw, into) // one of another type lacks what is checked below
	}
	if _, err := dec.Token(); err != nil {
		return p, errors.New("answer is cut off")
	}
	if _, err := dec.Token(); err != io.EOF {
		return p, errors.New("answer goes on after its end")
	}
	switch {
	case p.node == nil && fault != result{}:
		return p, fmt.Errorf("error_response: code %.20q, sub_code %.80q", fault.Code, fault.SubCode)
	case p.node == nil:
		return p, fmt.Errorf("answer without %s", name)
	case p.sign == "":
		_ = json.Unmarshal(p.node, &fault)
		return p, fmt.Errorf("answer without a signature: code %.20q, sub_code %.80q", fault.Code, fault.SubCode)
	}
	return p, nil
}

// validTradeNo reports whether s may be Alipay's trade number: 1 to 64 ASCII letters and digits.
func validTradeNo(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
