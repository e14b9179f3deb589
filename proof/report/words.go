package report

import "strings"

// chinese has the page's words in Chinese: labels, whole cells, and what follows a number.
var chinese = map[string]string{
	"placed":                              "已下单",
	"paid":                                "已付款",
	"given back":                          "已退回",
	"given-back":                          "已退回",
	"title":                               "商品",
	"price":                               "秒杀价",
	"from":                                "开始",
	"until":                               "结束",
	"units":                               "总件数",
	"at most for a user":                  "每人限购",
	"read":                                "读取时间",
	"not final":                           "未结束",
	"this was read before the sale's end": "在秒杀结束之前读取",
	"not in this report":                  "不在本报告中",
	"unreadable rows":                     "行无法读取",
	"Orders":                              "订单",
	"state":                               "状态",
	"ever":                                "曾经",
	"in the end":                          "最终",
	"pending_payment":                     "待付款",
	"closing":                             "关单中",
	"expired":                             "已过期",
	"cancelled":                           "已取消",
	"confirmed":                           "已接单",
	"shipped":                             "已发货",
	"received":                            "已收货",
	"completed":                           "已完成",
	"refund_due":                          "退款中",
	"refunded":                            "已退款",
	"rejected":                            "未成交",
	"Units":                               "件数",
	"sold in the end":                     "最终售出",
	"with other orders":                   "由其他订单占用",
	"neither":                             "未售出",
	"Money":                               "金额",
	"captured":                            "实收",
	"payment":                             "笔付款",
	"payments":                            "笔付款",
	"kept":                                "留存",
	"due back":                            "待退",
	"provider: captured":                  "支付平台：实收",
	"provider: refunded":                  "支付平台：已退",
	"the same as here":                    "与本报告一致",
	"NOT the same as here":                "与本报告不一致",
	"fees":                                "手续费",
	"not known":                           "不详",
	"they stand in the provider's bill":   "见支付平台账单",
	"Waits, in orders":                    "等待时间（订单数）",
	"no longer than":                      "不超过",
	"until placed":                        "到下单",
	"until paid":                          "到付款",
	"longer":                              "更久",
	"Unpaid, until given back":            "未付款到退回",
	"Paid, until shipped":                 "付款到发货",
	"orders":                              "订单数",
	"Refused requests, of the whole shop": "被拒绝的请求（整个店铺）",
	"nobody counted them":                 "没有计数",
	"source":                              "来源",
	"metrics of buy and admit: at least":  "下单和验证的指标：至少这些",
	"the run itself: all of its routes":   "本机运行：所有接口",
	"Audit":                               "审计",
	"holds":                               "成立",
	"broken":                              "不成立",
	"unknown":                             "证据不足",
	"piece of evidence is missing":        "项证据缺失",
	"pieces of evidence are missing":      "项证据缺失",
	"finding: `seckill audit` has them":   "处问题，见 seckill audit",
	"findings: `seckill audit` has them":  "处问题，见 seckill audit",
	"Units by minute (UTC+8)":             "每分钟件数（UTC+8）",
	"minute":                              "分钟",
	"I1 NoOversell":                       "没有超卖",
	"I2 UserLimit":                        "没有人超过限购",
	"I3 Conservation":                     "每一件都有去处",
	"I4 OneOutcome":                       "每个请求只有一个结果",
	"I5 ForwardOnly":                      "状态只向前变",
	"I6 NoPaidThenClosed":                 "付了款的订单没有被关闭",
	"I7 PayAuthentic":                     "每笔收款都真实",
	"I8 ReleaseOnce":                      "每件只退回一次",
	"I9 NoPhantom":                        "没有凭空出现的订单",
	"I10 Window":                          "只在开售时间内售出",
	"I11 NoFalseAck":                      "答应了的都算数",
	"A1 Admitted":                         "只有通过验证的人买到",
	"A4 Blocked":                          "被禁止的人没有买到",
	"L1 Terminal":                         "每个订单都有终点",
	"L2 NoStranded":                       "没有卡住的订单",
	"L3 Converged":                        "库存与账本一致",
	"L4 SellThrough":                      "有人要就卖得出去",
}

// inChinese returns a cell's words in Chinese, and "" for a cell that has none: a number, a time, a code, foreign text.
func inChinese(cell string) string {
	if zh := chinese[cell]; zh != "" {
		return zh
	}
	if reason, ok := strings.CutPrefix(cell, "rejected: "); ok {
		return chinese["rejected"] + "：" + reason
	}
	number, rest, _ := strings.Cut(cell, " ")
	if strings.Trim(number, "0123456789.-") == "" {
		return chinese[rest]
	}
	return ""
}
