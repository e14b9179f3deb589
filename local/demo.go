package local

import (
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// The demo sale. Its ids are fixed, so that clients and scripts can name them.
const (
	DemoEnded    = "2001"
	DemoLive     = "2002"
	DemoUpcoming = "2003"

	DemoStock = 10 // units of each item
	DemoLimit = 1  // units per shopper

	upcomingIn = 10 * time.Minute // soon enough to watch its countdown end
	liveFor    = 24 * time.Hour
)

// Shopper is a demo shopper.
type Shopper struct{ Name, User string }

// Shoppers are the demo shoppers, for whom a local run issues tokens.
var Shoppers = []Shopper{{"小明", "1001"}, {"小红", "1002"}, {"小刚", "1003"}, {"小丽", "1004"}}

// ContractItems returns the items that existing clients were written against, with the ids that they know: one ended,
// two on sale for a year, one that starts in a year; ten units each, one per shopper.
func ContractItems(now time.Time) []seckill.Listing {
	now = now.UTC().Truncate(time.Second)
	const year = 365 * 24 * time.Hour
	item := func(id, commodity, title string, start, end time.Time, price, was seckill.Fen) seckill.Listing {
		created := now.Add(-7 * 24 * time.Hour)
		return seckill.Listing{
			Item: seckill.Item{ID: id, Price: price, Start: start, End: end, CreateTime: now, Stock: DemoStock,
				Limit: DemoLimit, Buckets: seckill.BucketsFor(DemoStock), Version: 1,
				Commodity: seckill.Commodity{ID: commodity, Title: title, Price: was, CreateTime: created}},
			Description: seckill.Description{Detail: "<p>" + title + "</p>"}}
	}
	const moutai = "贵州茅台酒 飞天 53 度 500ml"
	return []seckill.Listing{
		item("1941486788178608128", "4001", "ThinkPad X1 Carbon", now.Add(-48*time.Hour), now.Add(-24*time.Hour),
			4_999_00, 9_999_00),
		item("1941486788694507520", "4002", moutai, now.Add(-time.Hour), now.Add(year), 1_499_00, 2_699_00),
		item("1941710239204114432", "4002", moutai, now.Add(-2*time.Hour), now.Add(year), 1_499_00, 2_699_00),
		item("1941486788929388544", "4003", "丰田 AE86 1:18 合金车模", now.Add(year), now.Add(year+24*time.Hour), 199_00,
			399_00),
	}
}

// SetChecks sets the checks of demo items, and the questions of strict ones.
func SetChecks(items []seckill.Listing, c seckill.Checks) {
	for i := range items {
		items[i].Checks = c
		if c == seckill.ChecksStrict {
			items[i].Questions = []seckill.Question{
				{Text: "三加四等于几？ 3 + 4 = ?", Answers: []string{"7", "七", "seven"}},
				{Text: "一周有几天？ How many days has a week?", Answers: []string{"7", "七", "七天", "seven"}},
				{Text: "中国的首都是哪里？ What is the capital of China?", Answers: []string{"北京", "beijing"}},
			}
		}
	}
}

// DemoItems returns an ended, a live and an upcoming item, as existing clients expect. stock and limit apply to the
// live one.
func DemoItems(now time.Time, stock, limit int) []seckill.Listing {
	now = now.UTC().Truncate(time.Second)
	item := func(id string, start, end time.Time, price seckill.Fen, stock, limit int, c seckill.Commodity,
		d seckill.Description) seckill.Listing {
		c.CreateTime = now.Add(-7 * 24 * time.Hour)
		return seckill.Listing{Item: seckill.Item{ID: id, Commodity: c, Price: price, Start: start, End: end,
			CreateTime: now,
			Stock:      stock, Limit: limit, Buckets: seckill.BucketsFor(stock), Version: 1}, Description: d}
	}
	return []seckill.Listing{
		item(DemoEnded, now.Add(-26*time.Hour), now.Add(-2*time.Hour), 98_00, DemoStock, DemoLimit,
			seckill.Commodity{ID: "3001", Title: "西湖龙井 明前特级 250g 礼盒", Price: 398_00},
			seckill.Description{Covers: []string{"/pictures/tea.svg"},
				Detail: "<p>明前采摘，一芽一叶，手工炒制。</p><ul><li>净含量：250 克（125 克 × 2 罐）</li><li>产地：杭州西湖</li><li>保质期：18 " +
					"个月</li></ul>"}),
		item(DemoLive, now.Add(-time.Hour), now.Add(liveFor), 199_00, stock, limit,
			seckill.Commodity{ID: "3002", Title: "云听 Pro 头戴式降噪耳机", Price: 899_00},
			seckill.Description{Covers: []string{"/pictures/headphones.svg"},
				Detail: "<p>自适应主动降噪，通勤路上也安静。</p><ul><li>续航 40 小时，充电 10 分钟可听 5 小时</li><li>蓝牙 " +
					"5.3，双设备同时连接</li><li>颜色：曜石黑</li></ul>"}),
		item(DemoUpcoming, now.Add(upcomingIn), now.Add(upcomingIn+liveFor), 259_00, DemoStock, DemoLimit,
			seckill.Commodity{ID: "3003", Title: "青轴 87 键机械键盘 三模无线", Price: 659_00},
			seckill.Description{Covers: []string{"/pictures/keyboard.svg"},
				Detail: "<p>热插拔轴座，有线、2.4G、蓝牙三种连接。</p><ul><li>PBT 双色键帽</li><li>4000 毫安时电池</li><li>可调 RGB 背光</li></ul>"}),
	}
}
