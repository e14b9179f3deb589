// Every text of the pages, in Chinese and English. The choice: ?lang=, then what was chosen before, then the language
// in which the server wrote the page, which is the browser's own if it is one of the two.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  brand: ['闪购', 'Flash Sale'],
  slogan: ['限时秒杀 · 公平抢购', 'One instant, a fair chance'],
  contact: ['联系客服：', 'Contact:'],
  skip: ['跳到正文', 'Skip to content'],
  nav_home: ['秒杀会场', 'Sales'],
  nav_orders: ['我的订单', 'My orders'],
  nav_label: ['主导航', 'Main'],
  language: ['English', '中文'],
  language_label: ['Switch to English', '切换到中文'],
  server_time: ['服务器时间', 'Server time'],
  hero_title: ['限时秒杀', 'Flash sale'],
  hero_text: ['数量有限，整点开抢。先到先得，每一件都算数。', 'Few units, one instant. First come, first served, and every unit counts.'],
  loading: ['加载中…', 'Loading…'],
  live: ['正在抢购', 'On sale now'],
  upcoming: ['即将开始', 'Coming up'],
  none_live: ['现在没有进行中的秒杀，看看即将开始的吧。', 'Nothing is on sale right now. See what is coming up.'],
  none_upcoming: ['暂时没有新的场次，敬请期待。', 'No further sale is planned yet. Check back soon.'],
  more: ['查看更多', 'Show more'],
  list_trouble: ['暂时连不上服务器，正在重新连接…', 'The server cannot be reached just now. Trying again…'],
  left: ['剩 {n} / {all} 件', '{n} of {all} left'],
  left_few: ['仅剩 {n} / {all} 件', 'Only {n} of {all} left'],
  stock_total: ['共 {all} 件', '{all} units'],
  stock_one: ['仅 1 件', '1 unit'],
  sold_out: ['已抢光', 'Sold out'],
  stock_label: ['剩余库存', 'Stock left'],
  limit: ['每人限购 {n} 件', 'Limit {n} per shopper'],
  limit_spans: ['各款合计每人限购 {n} 件', 'Limit {n} per shopper, all variants together'],
  was: ['原价', 'Was'],
  sale_price: ['秒杀价', 'Sale price'],
  off: ['省 {n}%', '{n}% off'],
  ends_in: ['距结束', 'Ends in'],
  starts_in: ['距开抢', 'Starts in'],
  over: ['已结束', 'Ended'],
  stopped: ['已停止', 'Stopped'],
  my_order: ['我的订单', 'My order'],
  days: ['{n} 天', '{n} d'],
  buy: ['立即抢购', 'Buy now'],
  prepare: ['提前准备', 'Get ready'],
  starts_at: ['{time} 开抢', 'Opens {time}'],
  detail: ['商品详情', 'About this item'],
  window: ['抢购时间', 'On sale'],
  picture_of: ['{title} 图 {n}', '{title}, picture {n}'],
  remind: ['加入日历提醒', 'Remind me by calendar'],
  share: ['分享', 'Share'],
  item_gone: ['没有找到这件商品。', 'This item was not found.'],
  page_gone: ['没有这个页面。', 'There is no such page.'],
  choose: ['选择款式', 'Choose'],
  opened: ['开抢啦！', 'The sale is open!'],

  close: ['关闭', 'Close'],
  count: ['数量', 'Quantity'],
  fewer: ['减少', 'One fewer'],
  more_units: ['增加', 'One more'],
  address: ['收货地址', 'Delivery address'],
  address_name: ['收件人', 'Name'],
  address_phone: ['电话', 'Phone'],
  address_region: ['地区', 'Region'],
  address_street: ['详细地址', 'Street and number'],
  address_keep: ['保存在这台设备上', 'Keep it on this device'],
  hint_name: ['王小明', 'Wang Xiaoming'],
  hint_phone: ['13800000000', '+86 138 0000 0000'],
  hint_region: ['上海市浦东新区', 'Pudong, Shanghai'],
  hint_street: ['世纪大道 100 号 8 楼', '100 Century Avenue, 8th floor'],
  fault_name_empty: ['请填写收件人。', 'Please give a name.'],
  fault_phone_empty: ['请填写电话。', 'Please give a phone number.'],
  fault_phone_digits: ['电话应为 6 至 20 位数字。', 'A phone number has 6 to 20 digits.'],
  fault_region_empty: ['请填写省、市、区。', 'Please give a region.'],
  fault_region_short: ['请填写完整的省、市、区。', 'Please give the full region.'],
  fault_street_empty: ['请填写详细地址。', 'Please give street and number.'],
  fault_street_short: ['详细地址太短。', 'Please give the full street and number.'],
  fault_street_long: ['地址总共最多 500 个字。', 'The whole address has at most 500 characters.'],
  total: ['合计', 'Total'],
  submit: ['提交订单', 'Place order'],
  be_ready: ['准备好了', 'I am ready'],
  ready_text: ['已准备好：开抢后按一下即可下单。', 'Ready: when it opens, one press places your order.'],
  submit_wait: ['{time} 后开抢', 'Opens in {time}'],
  submit_note: ['抢到后请在 {n} 分钟内付款，逾期自动释放。', 'Once it is yours, pay within {n} minutes, or it goes back on sale.'],

  sending: ['正在提交…', 'Sending your order…'],
  sending_text: ['请稍候，不要关闭页面。', 'One moment. Please keep this page open.'],
  sending_again: ['正在重新提交…', 'Sending your order again…'],
  sending_again_text: ['同一个请求，不会重复下单。', 'It is the same request and cannot be ordered twice.'],
  retrying: ['人太多了，正在自动重试', 'Very busy: trying again by itself'],
  retrying_text: ['您的请求没有丢，也不会重复下单。{n} 秒后再试。', 'Your request is not lost and cannot be ordered twice. Next try in {n} s.'],
  offline: ['网络断开了', 'The connection is lost'],
  offline_text: ['恢复后自动重试，不会重复下单。{n} 秒后再试。', 'It is sent again by itself and cannot be ordered twice. Next try in {n} s.'],
  waiting_start: ['还没开抢', 'Not open yet'],
  waiting_start_text: ['开抢瞬间自动提交，还有 {n} 秒。', 'Your order is sent the moment it opens, in {n} s.'],
  unanswered: ['还没有得到答复', 'No answer yet'],
  unanswered_text: ['您的请求可能已经成功。可以继续等，不会重复下单；也可以去“我的订单”看看。', 'Your request may have succeeded. Keep trying, it cannot be ordered twice, or look at “My orders”.'],
  other_order: ['重新填写', 'Start a new order'],
  holds_label: ['待处理的订单', 'Your open orders'],
  hold_unanswered: ['还没有得到答复。', 'has no answer yet.'],
  hold_continue: ['继续', 'Continue'],
  keep_trying: ['继续尝试', 'Keep trying'],

  queued: ['排队中', 'In the queue'],
  queued_text: ['已为您占好名额，正在生成订单…', 'Your units are reserved. The order is being made…'],
  pay: ['请在 {time} 内付款', 'Pay within {time}'],
  pay_text: ['抢到了！付款后订单生效，逾期自动释放。', 'It is yours! Pay to keep it, or it goes back on sale.'],
  pay_over: ['付款时间已到', 'The time to pay is over'],
  pay_over_text: ['正在确认最后的付款结果…', 'Checking whether a payment still arrived…'],
  closing: ['正在关闭订单', 'Closing the order'],
  closing_text: ['正在向支付平台确认，请稍候。', 'Asking the payment provider. One moment.'],
  paid: ['支付成功', 'Paid'],
  paid_text: ['谢谢惠顾！我们会尽快为您发货。', 'Thank you! We will send it soon.'],
  confirmed: ['商家已接单', 'Confirmed'],
  confirmed_text: ['正在为您备货。', 'Your order is being packed.'],
  shipped: ['已发货', 'Shipped'],
  shipped_text: ['包裹在路上了。', 'Your parcel is on its way.'],
  received: ['已收货', 'Received'],
  received_text: ['祝您使用愉快。', 'Enjoy it.'],
  completed: ['已完成', 'Completed'],
  completed_text: ['感谢您的购买。', 'Thank you for your purchase.'],
  expired: ['订单已过期', 'Order expired'],
  expired_text: ['没有在时限内付款，商品已放回。没有扣款。', 'It was not paid in time and went back on sale. No money was taken.'],
  cancelled: ['订单已取消', 'Order cancelled'],
  cancelled_text: ['商品已放回。没有扣款。', 'The units went back on sale. No money was taken.'],
  rejected: ['没有抢到', 'Not this time'],
  rejected_text: ['订单没能生成，没有扣款。', 'The order could not be made. No money was taken.'],
  rejected_sold_out: ['没有抢到', 'Not this time'],
  rejected_sold_out_text: ['商品已抢光，没有扣款。', 'It sold out before your order was made. No money was taken.'],
  rejected_limit_reached: ['已达限购数量', 'Limit reached'],
  rejected_limit_reached_text: ['您已买到限购的数量，没有扣款。', 'You already have as many as one shopper may buy. No money was taken.'],
  rejected_blocked: ['无法购买', 'You cannot buy'],
  rejected_blocked_text: ['您的账号暂时无法购买，没有扣款。如有疑问请联系客服。', 'Your account cannot buy at the moment. No money was taken. Please contact the shop’s support.'],
  rejected_stopped: ['活动已停止', 'Sale stopped'],
  rejected_stopped_text: ['商家停止了这场秒杀，没有扣款。', 'The shop stopped this sale. No money was taken.'],
  late: ['退款中', 'Refund on its way'],
  late_text: ['您的付款在订单关闭之后才到，会原路退回。', 'Your payment arrived after the order closed; it goes back to you.'],
  late_refunded: ['已退款', 'Refunded'],
  late_refunded_text: ['您的付款在订单关闭之后才到，已原路退回。', 'Your payment arrived after the order closed; it went back to you.'],
  refund_due: ['退款中', 'Refund on its way'],
  refund_due_text: ['款项会原路退回。', 'Your money goes back the way it came.'],
  refunded: ['已退款', 'Refunded'],
  refunded_text: ['款项已原路退回。', 'Your money went back the way it came.'],
  unknown: ['订单处理中', 'In progress'],
  unknown_text: ['请稍后在“我的订单”查看。', 'Please look at “My orders” later.'],

  pay_button: ['去付款', 'Pay now'],
  pay_opening: ['正在打开收银台…', 'Opening the cashier…'],
  pay_once: ['只需付一次，用哪台设备都行，本页会自动更新。重复付的款会原路退回。', 'Pay once, on any device: this page follows by itself. A second payment goes back.'],
  confirming: ['正在确认付款', 'Confirming your payment'],
  confirming_text: ['正在等支付宝确认，通常几秒就好。请不要再付。', 'Waiting for Alipay to confirm it, which takes seconds as a rule. Please do not pay again.'],
  confirming_long: ['还在确认付款', 'Still confirming your payment'],
  confirming_long_text: [
    '支付宝还没有确认。如果您已经付款，什么都不用做：订单会变成已付款，或款项原路退回；可以先离开，稍后在“我的订单”查看。如果还没有付款，请在时限内付款。',
    'Alipay has not confirmed it yet. If you have paid, there is nothing to do: the order becomes paid, or the money goes back to you. You may leave and look at “My orders” later. If you have not paid, please pay in time.',
  ],
  cashier_went_text: ['收银台打开过。如果您已经付款，请稍候，不要再付；还没有付，可以再次打开。', 'The cashier was opened. If you have paid, wait a moment, and do not pay again. If not, you can open it again.'],
  cashier_elsewhere_text: ['收银台已在另一个标签页打开，请在那里付款。付款后本页会自动更新。', 'The cashier is open in another tab: please pay there. This page follows by itself.'],
  cashier_over_text: [
    '还开着的支付宝页面不能再付款。如果您之前已经付款，正在核实：订单照常生效，或款项原路退回。',
    'Alipay’s page, if it is still open, takes no payment any more. If you paid before, we are checking: your order counts, or the money goes back to you.',
  ],
  cashier_closed_text: [
    '订单在付款到账之前已经关闭。如果您已经付款，款项会自动原路退回，并显示在这里；没有付款，就没有扣款。',
    'The order closed before a payment arrived. If you have paid, the money goes back to you by itself, and this page shows it. If not, no money was taken.',
  ],
  pay_your_order: ['您有一笔待付款的订单', 'You have an unpaid order'],
  pay_your_order_text: ['每人限购数量已用完，请先完成这笔付款。', 'It uses up your limit for this item. Pay it to keep it.'],
  already_bought: ['您已经买到了', 'You already bought it'],
  already_bought_text: ['每人限购 {n} 件，您的订单在“我的订单”里。', 'The limit is {n} per shopper. Your order is in “My orders”.'],
  refused: ['没有抢到', 'Not this time'],
  refused_item_unknown: ['没有这件商品', 'No such item'],
  refused_order_unknown: ['没有这笔订单', 'No such order'],
  refused_ended: ['已结束', 'Ended'],
  refused_stopped: ['活动已停止', 'Sale stopped'],
  refused_sold_out: ['已抢光', 'Sold out'],
  refused_not_enough: ['剩余数量不够', 'Not enough left'],
  refused_limit_reached: ['已达限购数量', 'Limit reached'],
  refused_text: ['请稍后再试。', 'Please try again later.'],
  sign_in_first: ['请先登录', 'Please sign in'],
  again: ['再抢一次', 'Try again'],
  buy_more: ['再买一件', 'Buy another'],
  see_order: ['查看订单', 'See the order'],
  done: ['好的', 'OK'],
  back_again: ['又有货了', 'It is back'],
  back_again_text: ['现在有 {n} 件，收货地址还在。', '{n} can be bought now. Your address is kept.'],
  trouble: ['暂时查不到结果，正在重试…', 'No answer just now. Trying again…'],

  orders_sign_in: ['登录后查看您的订单。', 'Sign in to see your orders.'],
  order: ['订单', 'Order'],
  units: ['{n} 件', '× {n}'],
  retry: ['重试', 'Try again'],
  no_answer: ['暂时没有得到答复，请重试。', 'There was no answer. Please try again.'],

  who: ['我的账号', 'My account'],
  sign_in: ['登录', 'Sign in'],
  who_user: ['用户 {user}', 'User {user}'],
  who_leave: ['退出', 'Sign out'],
  who_sessions: ['登录的设备', 'Where you are signed in'],
  signin_going: ['正在前往登录页', 'Going to the sign-in page'],
  signin_going_text: ['登录后会自动回到这里继续。', 'You come back here afterwards and go on where you were.'],
  signing_in: ['正在登录', 'Signing you in'],
  signin_wait: ['请稍候…', 'One moment…'],
  signin_busy: ['登录服务很忙', 'The sign-in service is busy'],
  signin_busy_text: ['正在自动重试，请稍候…', 'Trying again by itself. One moment…'],
  signin_choose: ['选择登录方式', 'Choose where to sign in'],
  signin_again: ['重新登录', 'Sign in again'],
  signin_refused: ['没有登录成功', 'You are not signed in'],
  signin_refused_text: ['登录没有被接受，请重新登录。', 'The sign-in was not accepted. Please sign in again.'],
  signin_cancelled: ['登录已取消', 'The sign-in was cancelled'],
  signin_cancelled_text: ['您还没有登录，需要时可以再次登录。', 'You are not signed in. You can sign in whenever you like.'],
  signin_mismatch: ['这次登录不是从这里开始的', 'This sign-in did not begin here'],
  signin_mismatch_text: ['为了您的安全，没有登录。请在本标签页重新登录。', 'For your safety nobody was signed in. Please sign in again in this tab.'],
  signin_away: ['暂时连不上登录服务', 'The sign-in service cannot be reached'],
  signin_away_text: ['没有登录，您填写的内容都还在。请稍后重试。', 'Nobody was signed in, and what you typed is kept. Please try again in a moment.'],
  signin_insecure: ['这里无法登录', 'Nobody can sign in here'],
  signin_insecure_text: ['登录需要 https 地址。', 'Signing in needs an address that begins with https.'],
  signin_ends: ['您的登录将在 {time} 到期。请现在重新登录，以免耽误抢购。', 'Your sign-in ends at {time}. Sign in again now, so that it does not hold you up in a sale.'],
  signin_ended: ['您的登录已到期，请重新登录。', 'Your sign-in has ended. Please sign in again.'],
  signin_kept_text: ['您的登录已到期，订单请求已保留：重新登录后自动继续，不会重复下单。', 'Your sign-in has ended, and your order is kept: sign in again and it goes on. It cannot be ordered twice.'],
  shopper_now: ['当前用户：{name}', 'You are {name}'],
};

const STORE = 'seckill.lang';
const TAGS = ['zh-CN', 'en'];

let chosen = 0;

/** Reads the choice. Call once before anything is shown. */
export function startLanguage() {
  const asked = new URLSearchParams(location.search).get('lang');
  if (asked) remember(asked);
  chosen = (asked || recall() || document.documentElement.lang).startsWith('en') ? 1 : 0;
  document.documentElement.lang = TAGS[chosen];
}

/** "zh" or "en": what Accept-Language asks for. */
export const language = () => (chosen ? 'en' : 'zh');

/** Changes to the other language and remembers it. */
export function switchLanguage() {
  chosen = 1 - chosen;
  document.documentElement.lang = TAGS[chosen];
  remember(language());
}

/** The text of that name; an unknown name is a mistake in the page, and shows itself. */
export function t(name, values = {}) {
  const text = TEXTS[name]?.[chosen] ?? name;
  return text.replace(/\{(\w+)\}/g, (_, key) => String(values[key] ?? ''));
}

/** The text of that name, or the other one when there is none. */
export const tOr = (name, other, values) => (TEXTS[name] ? t(name, values) : other);

/** A day and a time of day in the shopper's zone; seconds on request, the year when it is another. */
export function when(time, seconds = false) {
  const ms = typeof time === 'number' ? time : Date.parse(time);
  if (!ms) return '';
  const options = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  if (seconds) options.second = '2-digit';
  if (new Date(ms).getFullYear() !== new Date().getFullYear()) options.year = 'numeric';
  return new Intl.DateTimeFormat(TAGS[chosen], options).format(ms);
}

/** Fills in the texts of elements that name one by data-text or data-label. */
export function translate(root) {
  for (const node of root.querySelectorAll('[data-text]')) node.textContent = t(node.dataset.text);
  for (const node of root.querySelectorAll('[data-label]')) node.setAttribute('aria-label', t(node.dataset.label));
}

// Storage may be forbidden (private windows): then the choice lasts as long as the page.
function remember(value) {
  try {
    localStorage.setItem(STORE, value.startsWith('en') ? 'en' : 'zh');
  } catch {
    return;
  }
}

function recall() {
  try {
    return localStorage.getItem(STORE) || '';
  } catch {
    return '';
  }
}
