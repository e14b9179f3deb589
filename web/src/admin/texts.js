// The texts of the back office that no screen has alone. A screen's own texts are in its file.
import { TEXTS } from '../i18n.js';

/** Adds texts, name: [Chinese, English]; {x} is filled in. Two screens do not share a name. */
export function addTexts(texts) {
  for (const name of Object.keys(texts)) if (TEXTS[name]) throw new Error(`two texts are named ${name}`);
  Object.assign(TEXTS, texts);
}

// name: [Chinese, English]; {x} is filled in.
addTexts({
  office: ['后台', 'Back office'],
  office_none: ['您的角色在这里没有可看的页面。', 'Your roles have no page here.'],
  office_not: ['您的角色（{roles}）不能打开这个页面。', 'Your roles ({roles}) may not open this page.'],
  office_unknown: ['没有这个页面。', 'There is no such page.'],
  office_who: ['{who}，角色：{roles}', '{who}, roles: {roles}'],
  office_until: ['半小时不操作，就会自动退出。', 'If you do nothing for half an hour, you are signed out.'],
  office_comma: ['、', ', '],
  office_leave: ['退出登录', 'Sign out'],
  office_left: ['您已退出登录。', 'You are signed out.'],
  office_sign_in: ['登录后台', 'Sign in to the back office'],
  office_to_issuer: ['去登录', 'Sign in'],
  office_link: ['本机运行的商店在启动时打印一次性登录链接，seckill staff link 会打印新的。请在这个浏览器里打开它，然后回到这里。', 'A shop that runs on this machine prints a one-time link when it starts, and “seckill staff link” prints another. Open one in this browser, then come back here.'],
  office_look: ['我已登录', 'I have signed in'],
  office_not_yet: ['还没有登录。', 'You are not signed in yet.'],
  office_ended: ['登录已结束', 'Your session has ended'],
  office_ended_text: ['请重新登录。您填写的内容都还在，刚才的操作会接着完成。', 'Sign in again. What you typed is kept, and what you were doing goes on.'],
  office_again: ['请重新登录', 'Sign in again'],
  office_other: ['现在登录的是 {who}。刚才的操作没有执行，请看清楚再做一次。', 'Now {who} is signed in. What you were doing was not done: look, and do it again.'],

  role_viewer: ['查看', 'viewer'],
  role_editor: ['编辑', 'editor'],
  role_operator: ['运营', 'operator'],
  role_finance: ['财务', 'finance'],
  role_auditor: ['审计', 'auditor'],

  wrong_network: ['没有得到答复，可能是网络断开了。您填写的内容还在，请重试：每个操作都可以重复，不会做两次。', 'There was no answer: the network may be down. What you typed is kept. Try again: every command may be repeated, and is done once.'],
  wrong_unavailable: ['系统暂时没有答复。请稍后重试：每个操作都可以重复，不会做两次。', 'A part of the system does not answer. Try again in a moment: every command may be repeated, and is done once.'],
  wrong_role_forbidden: ['您的角色不能做这个操作。请找有权限的同事。', 'Your roles may not do this. Ask somebody whose roles may.'],
  wrong_session_ended: ['登录已结束。请重新登录，您填写的内容还在。', 'Your session has ended. Sign in again: what you typed is kept.'],
  wrong_sign_in_again: ['涉及资金的操作，须在 15 分钟内登录过。请重新登录，再做一次；您填写的内容还在。', 'This moves money, which takes a sign-in of the last 15 minutes. Sign in again, then do it once more: what you typed is kept.'],
  wrong_order_unknown: ['没有这笔订单。请核对订单号。', 'There is no such order. Check its number.'],
  wrong_item_unknown: ['没有这件秒杀商品。请核对编号。', 'There is no such item. Check its id.'],
  wrong_not_ready: ['商品正在装载或重建库存，请稍后再试。', 'The item’s stock is being loaded or rebuilt. Try again in a moment.'],
  wrong_body_too_large: ['内容太大，请拆成几份。', 'This is too large: split it.'],
  wrong_too_many_requests: ['操作太频繁，请稍后再试。', 'Too many requests. Try again in a moment.'],
  wrong_invalid_request: ['系统没有接受“{field}”。', '“{field}” was not accepted.'],
  wrong_field: ['系统没有接受：{what}', 'This was refused: {what}'],
  wrong_version_conflict: ['没有保存：别人已经改过。', 'Nothing was saved: somebody has changed it.'],
  wrong_activity_unknown: ['没有这个场次。请核对编号。', 'There is no such activity. Check its id.'],
  wrong_other: ['系统没有接受这个操作。', 'This was refused.'],

  field_empty: ['请填写。', 'Please fill this in.'],
  field_long: ['最多 {most} 个字，现在有 {n} 个。', 'At most {most} characters. There are {n}.'],
  field_line: ['请写在一行里。', 'Please write one line.'],
  field_id: ['编号是 1 至 19 位数字，不以 0 开头。', 'An id has 1 to 19 digits, and no leading zero.'],
  field_whole: ['请填写 {least} 至 {most} 的整数。', 'Please give a whole number from {least} to {most}.'],
  field_file: ['请选择文件。', 'Please choose a file.'],
  field_why: ['原因', 'Reason'],
  field_why_hint: ['会写入历史，最多 {most} 个字，一行。', 'It is kept in the history: one line, at most {most} characters.'],
  field_item: ['商品编号', 'Item'],
  field_user: ['买家编号', 'User'],
  field_order: ['订单号', 'Order'],
  field_day: ['日期（北京时间）', 'Day (UTC+8)'],
  field_optional: ['可不填', 'optional'],
  sending_now: ['正在发送…', 'Sending…'],
  cancel: ['取消', 'Cancel'],
  show_these: ['显示', 'Show'],

  table_none: ['没有符合条件的记录。', 'Nothing matches.'],
  table_empty: ['还没有记录。', 'There are none yet.'],
  table_none_yet: ['这一页里没有符合条件的，后面可能还有。', 'Nothing on this page matches. There may be more on the next.'],
  table_next: ['下一页', 'Next page'],
  table_first: ['第一页', 'First page'],
  table_pages: ['翻页', 'Pages'],
  table_sorted: ['只在本页内排序', 'sorted within this page only'],
  table_scroll: ['可左右滚动的表格', 'Table that scrolls'],
});
