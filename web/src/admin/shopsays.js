// What the shop says in English, and staff read in the page's language: why an order changed, as its history has it, and
// why a save was refused. What is not listed here is shown as it is.
import { language, tOr, when } from '../i18n.js';

// [pattern, Chinese, English where the shop's own words are for developers]; {1} is what the first group found.
const CAUSES = [
  [/^blocked$/, '买家被禁购'],
  [/^placed$/, '已落单'],
  [/^notify$/, '支付平台通知', 'The payment provider says so'],
  [/^query$/, '向支付平台查询', 'The payment provider says so, when asked'],
  [/^query by (.+?): (.*)$/, '{1} 向支付平台查询：{2}'],
  [/^recorded$/, '已入账'],
  [/^nothing$/, '没有新的款项'],
  [/^outside$/, '已在本店之外退回', 'Went back outside the shop'],
  [/^(\S+) yuan of trade (\S+) went back outside the shop$/, '{1} 元已在本店之外退回，交易号 {2}'],
  [/^(\S+) of (\S+) yuan of trade (\S+) went back: notification (\S+)$/, '{2} 元中已退回 {1} 元，交易号 {3}：支付平台通知 {4}'],
  [/^(\S+) of (\S+) yuan of trade (\S+) went back: query of refund (\S+)$/, '{2} 元中已退回 {1} 元，交易号 {3}：查询退款 {4} 得知'],
  [/^(\S+) of (\S+) yuan of trade (\S+) went back: bill of (\S+)$/, '{2} 元中已退回 {1} 元，交易号 {3}：{4} 的账单'],
  [/^ships all the same, (\S+) yuan went back, says (.+?): (.*)$/, '{2} 决定照常发货，{1} 元已退回：{3}'],
  [/^(\S+) yuan of trade (\S+) went back, refund (\S+)$/, '{1} 元已退回，交易号 {2}，退款编号 {3}'],
  [/^not paid in time$/, '超时未付款'],
  [/^trade closed$/, '支付平台已关闭交易'],
  [/^cancelled by the shopper$/, '买家取消'],
  [/^received by the shopper$/, '买家确认收货'],
  [/^the shopper asks for a refund$/, '买家申请退款'],
  [/^15 days after shipping$/, '发货满 15 天'],
  [/^7 days after receipt$/, '收货满 7 天'],
  [/^confirmed by (.*)$/, '{1} 接单'],
  [/^shipped by (.*)$/, '{1} 发货'],
  [/^parcel corrected by (.+?): from (.*?) to (.*?): (.*)$/, '{1} 更正运单：{2} → {3}，{4}'],
  [/^note by (.+?): (.*)$/, '{1} 备注：{2}'],
  [/^hidden by (.+?): (.*)$/, '{1} 从列表中隐藏：{2}'],
  [/^shown by (.+?): (.*)$/, '{1} 放回列表：{2}'],
  [/^refund by (\S+) and (\S+): (.*)$/, '{1} 和 {2} 退款：{3}'],
  [/^refund by (.+?): (.*)$/, '{1} 退款：{2}'],
  [/^restocked by (.+?): (.*)$/, '{1} 让件数重新上架：{2}'],
];

const REFUSALS = [
  [/^there is no item (\d+)$/, '没有商品 {1}。'],
  [/^item (\d+) sells from (\S+) to (\S+), outside of the activity's window$/, '商品 {1} 从 {2} 卖到 {3}，不在场次的时间之内。'],
  [/^the activity is offline, and item (\d+) is not stopped: stop it first$/, '场次已下线，商品 {1} 没有停止：请先停止它。'],
  [/^on sale now: ([\d, ]+): stop them first, or wait until they end$/, '正在卖：{1}。请先停止，或等到结束。'],
  [/^item (\d+) is in activity (\d+) already: take it out there first$/, '商品 {1} 已在场次 {2} 里，请先从那里移出。'],
  [/^activity (\d+) is deleted: undelete it first$/, '场次 {1} 已删除，请先恢复。'],
  [/^activity (\d+) ended at (\S+)$/, '场次 {1} 已于 {2} 结束。'],
  [/^fixed since (\S+), when (?:its sale|the activity) ended$/, '不能改：已于 {1} 结束。'],
  [/^fixed since (\S+), when shoppers began to pass its checks$/, '不能改：{1} 起买家已在做验证。'],
  [/^fixed since (\S+), when it was loaded for sale$/, '不能改：{1} 已装载待售。'],
  [/^(\d+) is less than the (\d+) that it has, and stock only grows$/, '{1} 少于现有的 {2} 件，库存只能增加。'],
  [/^outside of its activity (\d+), which is from (\S+) to (\S+)$/, '不在场次 {1} 的时间之内：{2} 至 {3}。'],
  [/^item (\d+) of the family has the same: (.*)$/, '同组的商品 {1} 已是这个规格：{2}。'],
  [/^cover .*: want an https:\/\/ address or a path such as (\S+)$/, '应为以 https 开头的地址，或 {1} 这样的路径。'],
  [/neither a JPEG nor a PNG/, '文件既不是 JPEG，也不是 PNG。'],
];

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

function inWords(text, table) {
  for (const [pattern, chinese, english] of table) {
    const found = pattern.exec(text);
    if (found && language() !== 'zh') return english || text;
    if (found) return chinese.replace(/\{(\d)\}/g, (_, n) => (TIME.test(found[n]) ? when(found[n], true) : found[n]));
  }
  return text;
}

/** Why an order or its money changed, or why it was rejected. */
export function causeText(text) {
  const money = /^(\S+) yuan by trade (\S+): (.*)$/.exec(text);
  if (money && language() === 'zh') return `${money[1]} 元，交易号 ${money[2]}：${causeText(money[3])}`;
  if (money) return `${money[1]} yuan by trade ${money[2]}: ${causeText(money[3])}`;
  return tOr(`refused_${text}`, inWords(text, CAUSES));
}

/** Why the shop refused a field. */
export const refusalText = (text) => inWords(text, REFUSALS);
