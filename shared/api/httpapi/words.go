package httpapi

import (
	"strconv"
	"strings"

	"github.com/your-org/seckill/shared/seckill"
)

// language is a language of problem documents.
type language int

const (
	chinese language = iota // the default
	english
	languages = 2
)

// languageTags are the values of Content-Language.
var languageTags = [languages][]string{chinese: {"zh-CN"}, english: {"en"}}

// English reports whether the values of Accept-Language prefer English to Chinese: the larger weight wins, of equal
// weights the first, and Chinese if neither is named.
func English(headers []string) bool { return preferred(headers) == english }

// preferred returns the language with the highest weight in Accept-Language (RFC 9110 section 12.5.4), the first
// among equals. It ignores languages other than Chinese and English.
func preferred(headers []string) language {
	best, lang := 0.0, chinese
	for _, header := range headers {
		for rest := header; rest != ""; {
			var part string
			part, rest, _ = strings.Cut(rest, ",")
			tag, parameter, weighted := strings.Cut(part, ";")
			l, known := languageOf(strings.TrimSpace(tag))
			if !known {
				continue
			}
			q := 1.0
			if weighted {
				value, _ := strings.CutPrefix(strings.TrimSpace(parameter), "q=")
				var err error
				if q, err = strconv.ParseFloat(value, 64); err != nil || q > 1 {
					continue
				}
			}
			if q > best {
				best, lang = q, l
			}
		}
	}
	return lang
}

func languageOf(tag string) (l language, known bool) {
	primary, _, _ := strings.Cut(tag, "-")
	switch {
	case strings.EqualFold(primary, "zh"):
		return chinese, true
	case strings.EqualFold(primary, "en"):
		return english, true
	}
	return chinese, false
}

type phrase struct{ title, detail string }

// words holds the texts for every code, in the words of the shopper.
var words = map[seckill.Code][languages]phrase{
	seckill.CodeInvalid: {
		{"请求有误", "请求内容有误，请检查后重试。"},
		{"Invalid request", "Something in the request is not right. Please check it and try again."}},
	seckill.CodeTooLarge: {
		{"请求内容过大", "提交的内容过大，请精简后重试。"},
		{"Request too large", "What was sent is too large. Please shorten it and try again."}},
	seckill.CodeToken: {
		{"请重新登录", "登录已失效，请重新登录后再试。"},
		{"Please sign in again", "Your sign-in is missing or no longer valid. Please sign in and try again."}},
	seckill.CodeSignIn: {
		{"登录未成功", "这次登录没有通过验证，请重新登录。"},
		{"Not signed in", "This sign-in could not be verified. Please sign in again."}},
	seckill.CodeSignInBroken: {
		{"暂时无法登录", "本店的登录设置有误，不是您的问题，店方会处理。请稍后再来。"},
		{"Sign-in is out of order", "The shop's sign-in is set up wrongly. This is not your fault, and the shop will " +
			"put it right. Please come back later."}},
	seckill.CodeItemUnknown: {
		{"商品不存在", "没有找到这个秒杀商品。"},
		{"Item not found", "There is no such item."}},
	seckill.CodeOrderUnknown: {
		{"订单不存在", "没有找到您的这个订单。"},
		{"Order not found", "You have no such order."}},
	seckill.CodeNotFound: {
		{"页面不存在", "没有找到您要访问的内容。"},
		{"Not found", "There is nothing at this address."}},
	seckill.CodeMethod: {
		{"请求方式不支持", "这个地址不支持这种请求方式。"},
		{"Method not allowed", "This address cannot be used in this way."}},
	seckill.CodeNotStarted: {
		{"尚未开始", "秒杀还没有开始，请在开始时间之后再来。"},
		{"Not started yet", "The sale has not started yet. Please come back when it opens."}},
	seckill.CodeEnded: {
		{"已结束", "秒杀已经结束。"},
		{"Sale over", "The sale is over."}},
	seckill.CodeStopped: {
		{"已停止", "这个商品的秒杀已停止。"},
		{"Sale stopped", "The sale of this item has been stopped."}},
	seckill.CodeSoldOut: {
		{"已售罄", "已经抢完了。未付款的订单取消后库存会退回，可稍后再来看看。"},
		{"Sold out", "Sold out. Units of unpaid orders come back, so it may be worth another look later."}},
	seckill.CodeNotEnough: {
		{"库存不足", "剩余数量不足，请减少购买数量后重试。"},
		{"Not enough left", "Fewer are left than you asked for. Please try a smaller quantity."}},
	seckill.CodeLimitReached: {
		{"已达限购数量", "您购买的数量已达到限购上限，未付款的订单也计算在内。"},
		{"Limit reached", "You have reached the limit for this item; unpaid orders count too."}},
	seckill.CodeKeyReused: {
		{"请求重复", "这个请求编号已用于另一笔购买，请刷新页面后重新下单。"},
		{"Request key reused",
			"This request key was already used for a different purchase. Please reload and buy again."}},
	seckill.CodeStillQueued: {
		{"订单排队中", "订单还在排队，暂时不能取消，请稍后再试。"},
		{"Still in the queue",
			"Your order is still in the queue and cannot be cancelled yet. Please try again shortly."}},
	seckill.CodeNotCancelable: {
		{"订单不能取消", "这个订单当前的状态不能取消。"},
		{"Cannot be cancelled", "This order can no longer be cancelled."}},
	seckill.CodeCancelLimit: {
		{"取消次数已达上限", "您已多次取消这件商品的订单，不能再取消。付款期限内没有付款，这笔订单会自动关闭。"},
		{"Cancelled too often",
			"You have cancelled this item as often as you can. This order closes by itself when it is not paid in " +
				"time."}},
	seckill.CodeWrongState: {
		{"订单当前状态不能这样操作", "这个订单当前的状态不支持该操作。请刷新订单查看。"},
		{"Not possible now", "This cannot be done to the order as it is now. Please look at the order again."}},
	seckill.CodeNotPayable: {
		{"订单现在不能付款", "这个订单已付款、已关闭，或付款时间已过，不能再付款。请刷新订单查看。"},
		{"Cannot be paid now",
			"This order is paid or closed, or its time to pay is over. Please look at the order again."}},
	seckill.CodeNotPushed: {
		{"不推送结果", "本店不推送订单结果，请刷新订单查看。"},
		{"Nothing is pushed", "This shop does not push the outcome of a purchase. Please look at the order again."}},
	seckill.CodeForged: {
		{"通知验签失败", "支付通知的签名无效。"},
		{"Payment notification not authentic", "The signature of the payment notification is not valid."}},
	seckill.CodeNotOurs: {
		{"通知不匹配", "支付通知与我们的应用、商户或订单不符。"},
		{"Payment notification does not match",
			"The payment notification does not match our app, seller, order or amount."}},
	seckill.CodeNotReady: {
		{"准备中", "商品正在准备中，请稍后重试。"},
		{"Getting ready", "This item is being made ready. Please try again in a moment."}},
	seckill.CodeTicket: {
		{"请先完成验证", "请回到商品页面完成验证，然后再购买。"},
		{"A check comes first", "Please complete the check on the item's page, and buy then."}},
	seckill.CodeNoChecks: {
		{"无需验证", "该商品无需验证，可以直接购买。"},
		{"No check needed", "This item is sold without a check. You can buy it right away."}},
	seckill.CodeCheck: {
		{"验证未通过", "验证没有通过，请再试一次。"},
		{"The check was not passed", "That was not right. Please try again."}},
	seckill.CodeAccountNew: {
		{"账号注册时间太短", "该商品只向注册满 7 天的账号开放。"},
		{"Your account is too new", "This item is sold to accounts that are at least 7 days old."}},
	seckill.CodeBlocked: {
		{"无法购买", "您的账号暂时无法购买，如有疑问请联系客服。"},
		{"You cannot buy", "Your account cannot buy at the moment. Please contact the shop's support."}},
	seckill.CodeTooMany: {
		{"请求过于频繁", "您操作得太快了，请稍后重试。"},
		{"Too many requests", "That was too fast. Please try again in a moment."}},
	seckill.CodeUnavailable: {
		{"服务繁忙", "系统繁忙，请稍后重试。"},
		{"Temporarily unavailable", "The shop is busy. Please try again in a moment."}},
	seckill.CodeUnconfirmed: {
		{"正在确认", "您的请求正在确认中，请稍后用同样的内容再提交一次，不会重复下单。"},
		{"Not confirmed yet",
			"Your purchase is being confirmed. Please send the same request again shortly; it will not be ordered " +
				"twice."}},
	seckill.CodeInternal: {
		{"系统错误", "系统出错了，请稍后重试。"},
		{"Internal error", "Something went wrong on our side. Please try again later."}},
}

// fieldWords holds a text per invalid field of a request; %s is the hint in words.
var fieldWords = map[string][languages]string{
	"seckill_id": {"商品编号应为 1 至 19 位数字。", "The item id must have 1 to 19 digits."},
	"count":      {"购买数量应为 %s 的整数。", "The quantity must be a whole number, %s."},
	"address": {"请填写收货地址，长度为 %s 个字，不含乱码或看不见的字符。",
		"Please enter a delivery address of %s characters, all of which can be read."},
	"kind":   {"付款方式应为 %s 之一。", "The way to pay must be one of %s."},
	"order":  {"订单应为 %s。", "The order must be %s."}, // for operators
	"day":    {"日期应为 %s。", "The day must be %s."},   // for operators
	"reason": {"请写明原因，1 至 500 个字，不换行。", "Please give a reason of 1 to 500 characters, on one line."},
	"body":   {"提交的内容格式不正确。", "What was sent could not be read."},
	"Idempotency-Key": {"Idempotency-Key 应为 1 至 128 个可打印的 ASCII 字符。",
		"The Idempotency-Key must have 1 to 128 printable ASCII characters."},
}

// fieldWrong and fieldWanted are for fields without a text of their own; %s is the field, %h the hint in words.
var (
	fieldWrong = [languages]string{"请求中的 %s 有误，请检查后重试。",
		"The value of %s is not right. Please check it and try again."}
	fieldWanted = [languages]string{"请求中的 %s 应为 %h。", "The value of %s must be %h."}
	to          = [languages]string{" 至 ", " to "}
)
