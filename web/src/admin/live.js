// The live screen: a running sale, each figure with its age, once a second while the page is seen. All who watch share one
// reading, which the shop renews at most once a second; what only metrics know comes each minute from a stack.
import { yuan } from '../core.js';
import { el, pause, put, setText, svg } from '../dom.js';
import { t, tOr, when } from '../i18n.js';
import { command, look, session, signedInAgain, words } from './call.js';
import { allItems, fullTitle, oneItem } from './itemlist.js';
import { acts, line } from './liveacts.js';
import { placeOf } from './place.js';
import { table } from './table.js';
import { addTexts } from './texts.js';

addTexts({
  live_title: ['实时大屏', 'Live'],
  live_choose: ['要看哪件商品的秒杀？', 'Which sale do you want to see?'],
  live_act: ['商品详情', 'The item'],
  live_money: ['款项', 'Money'],
  live_paused: ['页面不可见，已暂停。', 'Paused while nobody sees this page.'],
  live_trouble: ['{why} {n} 秒后重试，下面是上次的数。', '{why} Next try in {n} s; these are the last figures.'],
  live_trouble_stop: ['要马上停售，请用命令行：{line}', 'To stop the sale now, use the command line: {line}'],
  live_ended: ['半小时没有人操作，登录已结束，下面是上次的数。', 'Nobody did anything for half an hour, so your session has ended. These are the last figures.'],
  live_again: ['重新登录，继续看', 'Sign in again and go on watching'],
  live_shop: ['整个店铺', 'of the whole shop'],

  live_part_stock: ['库存', 'Stock'],
  live_part_counts: ['账本', 'Orders'],
  live_part_metrics: ['请求', 'Requests'],
  live_part_acts: ['谁做了什么', 'Who did what'],
  live_part_refusals: ['拒绝原因', 'Refusals by cause'],
  live_part_queues: ['队列', 'Queues'],
  live_part_money: ['退款', 'Refunds'],
  live_age: ['{age} 秒前', '{age} s old'],
  live_never: ['还没有读到', 'not read yet'],
  live_failed: ['读取失败（{why}），这是 {age} 秒前的数', 'could not be read ({why}): {age} s old'],
  live_since: ['{time} 起', 'since {time}'],

  live_stock: ['总件数', 'Units'],
  live_left: ['剩余', 'Left'],
  live_held: ['订单占用', 'Held by orders'],
  live_awaiting: ['待落单', 'Waiting to be placed'],
  live_placed: ['已下单', 'Placed'],
  live_paid: ['已付款', 'Paid'],
  live_sold: ['已付款的比例', 'Share that is paid'],
  live_sold_part: ['{part}%，共 {stock} 件', '{part} % of {stock}'],
  live_revenue: ['销售额（不减退款）', 'Sales, refunds not deducted'],
  live_given_back: ['已回补', 'Given back'],
  live_recounting: ['正在重新计数，数字偏小', 'A recount is under way: too small'],
  live_presses: ['点击抢购', 'Presses'],
  live_per_second: ['每秒请求', 'Requests a second'],
  live_p99: ['最慢的 1% 用时', 'Slowest 1 % take'],
  live_errors: ['错误', 'Errors'],
  live_lag: ['下单数的延迟', 'Order counts lag by'],
  live_at: ['{figure}（{time}）', '{figure} at {time}'],
  live_requests_note: ['不含后台自己的请求', 'without the back office’s own requests'],
  live_act_stop: ['停止销售', 'Stop'],
  live_act_resume: ['恢复销售', 'Resume'],
  'live_act_add-stock': ['增加库存', 'Add stock'],
  live_act_redrive: ['移回死信', 'Move dead letters back'],
  live_act_offline: ['场次下线', 'Take activity offline:'],
  live_act_online: ['场次上线', 'Put activity online:'],
  live_drift: ['库存与账本相差的件数', 'Units by which stock and orders differ'],
  live_unknown_payments: ['付款不明', 'Unknown payments'],
  live_refused: ['被拒绝', 'Refused'],
  live_none: ['没有', 'None'],
  live_oldest: ['最老消息：{queue}', 'Oldest message: {queue}'],
  live_waiting: ['等待：{queue}', 'Waiting: {queue}'],
  live_flight: ['处理中：{queue}', 'Being handled: {queue}'],
  live_delayed: ['延时：{queue}', 'Delayed: {queue}'],
  live_dead: ['死信：{queue}', 'Dead letters: {queue}'],
  live_queue_orders: ['下单', 'orders'],
  live_queue_closings: ['关单', 'closings'],
  live_due: ['待退', 'Due'],
  live_due_refused: ['被平台拒绝', 'Refused by the provider'],
  live_at_least: ['至少 {n}', 'at least {n}'],
  live_unknown: ['不知道', 'not known'],
  live_seconds: ['{n} 秒', '{n} s'],

  live_ready: ['开始前的检查', 'Before the start'],
  live_ready_late: ['检查', 'Checks'],
  live_ready_yes: ['都好了', 'all right'],
  live_ready_no: ['{n} 项不对', '{n} not right'],
  live_ok: ['好', 'right'],
  live_not: ['不对', 'wrong'],
  live_check_installed: ['已装入库存', 'Loaded into the stock'],
  live_check_not_stopped: ['没有停售', 'Not stopped'],
  live_check_units: ['件数对得上', 'Units add up'],
  live_check_clock: ['时钟一致（差 {detail}）', 'Clocks agree (off by {detail})'],
  live_check_server: ['Redis {detail}', 'Redis {detail}'],
  live_check_queue: ['没有积压：{detail}', 'No message waits: {detail}'],
  live_check_dead_letters: ['没有死信：{detail}', 'No dead letters: {detail}'],
  live_check_refunds_refused: ['没有被拒绝的退款', 'No refused refund'],
  live_check_counting: ['没有在重新计数', 'No recount is under way'],
  live_doctor: ['这里是商店自己知道的。doctor 还检查设置、密钥和警报：', 'These are what the shop itself knows. The doctor checks settings, secrets and alarms, too:'],

  live_curve_stock: ['剩余和订单占用，打开本页以来', 'Left and held by orders, since this page was opened'],
  live_curve_load: ['每秒请求，打开本页以来', 'Requests a second, since this page was opened'],
  live_curve_presses: ['每分钟的点击、拒绝、错误', 'Presses, refusals and errors a minute'],
  live_curve_counts: ['每分钟的下单、付款、回补', 'Placed, paid and given back a minute'],
  live_numbers: ['每分钟的数字', 'The numbers by minute'],
  live_minutes: ['最近一小时，新的在前', 'The last hour. Newest first'],
  live_minute: ['分钟', 'Minute'],
});

const EVERY = 1_000; // ms
const SLOWEST = 30_000; // ms, after refusals
const KEPT = 900; // seconds that the page's own curves have
const MINUTES = 60; // that curves have at most
const RENEWED = 5 * 60_000; // ms: the shop renews a session that was used as seldom as this
const SHOWN = 10; // minutes at least

const queueName = (name) => tOr(`live_queue_${name}`, name);
const atLeast = (n, more) => (more ? t('live_at_least', { n }) : n);
const seconds = (n) => t('live_seconds', { n });
const milliseconds = (v) => (v === null ? t('live_unknown') : v < 9_950 ? `${v < 9.95 ? v.toFixed(1) : Math.round(v)} ms` : seconds(Math.round(v / 1000)));

// What an act was, with the queue, or the number of units.
const actName = (a) => `${tOr(`live_act_${a.act}`, a.act)} ${a.subject.replace(/item=\S+ ?/, '').replace(/queue=(\S+)/, (_, q) => queueName(q)).replace(/(stock|activity)=/, '')}`.trim();

// The parts of the row that are shown together: figures(value) is [[name, value]].
const PARTS = [
  { name: 'stock', figures: (v) => [[t('live_stock'), v.stock], [t('live_left'), v.left], [t('live_held'), v.held], [t('live_awaiting'), v.awaiting]] },
  {
    name: 'counts',
    note: (v) => v.recounting && t('live_recounting'),
    figures: ({ total }, seen, price) => [
      [t('live_sold'), t('live_sold_part', { part: Math.min(100, Math.floor((100 * total.paid) / (seen.stock.value.stock || 1))), stock: seen.stock.value.stock })],
      ...(price ? [[t('live_revenue'), `¥${yuan(total.paid * price)}`]] : []),
      [t('live_placed'), total.placed],
      [t('live_paid'), total.paid],
      [t('live_given_back'), total.given_back],
    ],
  },
  {
    name: 'acts',
    figures: (v) => (v.list?.length ? v.list.map((a) => [actName(a), `${a.who} · ${when(a.at, true)}${a.result === 'changed' ? '' : ` · ${tOr(`audit_result_${a.result}`, a.result)}`}`]) : [[t('live_none'), '–']]),
  },
  {
    name: 'metrics',
    shop: true,
    note: (v) => [v.since && t('live_since', { time: when(v.since) }), t('live_requests_note')].filter(Boolean).join(' · '),
    figures: (v) => [
      [t('live_presses'), v.presses],
      [t('live_per_second'), v.requests_per_second.toFixed(1)],
      [t('live_p99'), milliseconds(v.p99_ms)],
      [t('live_errors'), v.errors],
      [t('live_lag'), v.lag_at ? t('live_at', { figure: milliseconds(v.lag_ms), time: when(v.lag_at) }) : milliseconds(v.lag_ms)],
      [t('live_drift'), v.drift],
      [t('live_unknown_payments'), v.unknown_payments],
      ...Object.entries(v.queue_age_seconds || {}).sort().map(([name, age]) => [t('live_oldest', { queue: queueName(name) }), seconds(age)]),
    ],
  },
  { name: 'refusals', of: 'metrics', shop: true, figures: (v) => refusals(v.refusals || {}) },
  {
    name: 'queues',
    shop: true,
    figures: (v) => (v || []).flatMap((q) => [['live_waiting', q.visible], ['live_flight', q.in_flight], ['live_delayed', q.delayed], ['live_dead', q.parked]].map(([what, n]) => [t(what, { queue: queueName(q.name) }), n])),
  },
  { name: 'money', shop: true, figures: (v) => [[t('live_due'), atLeast(v.refunds_due, v.more_due)], [t('live_due_refused'), atLeast(v.refunds_refused, v.more_refused)]] },
];

function refusals(by) {
  const some = Object.entries(by).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  return some.length ? some.map(([reason, n]) => [tOr(`refused_${reason}`, reason), n]) : [[t('live_none'), '–']];
}

// Curves: lines are names of texts; minute(…) gives a line's numbers by minute, others are kept by the page.
const CURVES = [
  { name: 'stock', lines: ['left', 'held'] },
  { name: 'load', lines: ['per_second'] },
  { name: 'presses', of: 'metrics', lines: ['presses', 'refused', 'errors'] },
  { name: 'counts', of: 'counts', lines: ['placed', 'paid', 'given_back'] },
];

export const live = {
  name: 'live',
  title: 'live_title',
  needs: ['live'],
  menu: true,
  async show(page) {
    if (!page.id) return choose(page);
    const [seen, it] = await Promise.all([command('live', { item: page.id }), page.may('item') ? oneItem(page.id).catch(() => null) : null]);
    if (page.signal.aborted) return;
    const drawn = draw(page, seen, it?.sk_price);
    drawn.show(seen);
    watch(page, drawn);
    await drawn.curves();
  },
};

async function choose(page) {
  const { items } = await allItems();
  if (page.signal.aborted) return;
  put(page.node, el('section', { class: 'panel' }, el('h2', {}, t('live_choose')), el('ul', { class: 'faults' }, items.map((it) => el('li', {}, el('a', { class: 'text-link', href: placeOf('live', it.id) }, `${it.id} · ${fullTitle(it)}`))))));
}

/**
 * Asks once a second while the page is seen and no command is under way; after refusals, less and less often. The shop
 * does not take that for somebody who uses the session, so whoever touches the page renews it.
 */
async function watch(page, drawn) {
  const { signal } = page;
  const timer = setInterval(drawn.ages, EVERY);
  signal.addEventListener('abort', () => clearInterval(timer));
  let renewed = performance.now();
  const used = () => {
    if (performance.now() - renewed < RENEWED) return;
    renewed = performance.now();
    session().catch(() => {}); // the next look tells
  };
  for (const what of ['pointerdown', 'keydown']) document.addEventListener(what, used, { signal });
  for (let wait = EVERY; ; ) {
    await pause(wait, signal);
    while (!signal.aborted && document.visibilityState !== 'visible') {
      drawn.say(t('live_paused'));
      await pause(SLOWEST, signal);
    }
    if (signal.aborted) return;
    if (drawn.busy()) continue;
    try {
      const seen = await look('live', { item: page.id });
      if (signal.aborted) return;
      wait = EVERY;
      drawn.say('');
      drawn.show(seen);
    } catch (problem) {
      if (signal.aborted) return;
      if (problem.status === 401) {
        await drawn.ended(problem);
        continue;
      }
      wait = Math.min(Math.max(2 * wait, problem.retryAfter || 0), SLOWEST);
      const stop = problem.status === 429 && page.may('stop') ? ` ${t('live_trouble_stop', { line: line(page, `items stop ${page.id}`) })}` : '';
      drawn.say(t('live_trouble', { why: words(problem), n: wait / 1000 }) + stop);
    }
  }
}

/**
 * The screen's parts: show(seen) fills them in, ages() lets the figures grow older, curves() draws the curves. busy() says
 * whether a command is under way; ended(problem) waits until somebody has signed in again.
 */
function draw(page, first, price) {
  const state = el('span', { class: 'pill' });
  const facts = el('span', { class: 'soft' });
  const trouble = el('p', { class: 'notification', role: 'status', id: 'live-trouble', hidden: true });
  const parts = PARTS.map((p) => ({ ...p, of: p.of || p.name, age: el('p', { class: 'soft age' }), extra: el('p', { class: 'soft' }), list: el('dl', { class: 'figures' }) }));
  const readyWord = el('span', {});
  const readyTitle = el('span', {});
  const ready = el('ul', { class: 'checks' });
  const before = Date.parse(first.stock.value.opens) > Date.parse(first.now);
  const checks = el('details', { class: 'panel', id: 'live-ready', open: before, hidden: true }, el('summary', {}, readyTitle, ' · ', readyWord), ready, el('p', { class: 'soft' }, t('live_doctor'), ' ', el('span', { class: 'code' }, line(page, 'doctor'))));
  const minutes = el('div', {});
  const numbers = el('details', { class: 'panel', id: 'live-numbers', ontoggle: () => shown && fillNumbers() }, el('summary', {}, t('live_numbers')), minutes);
  const figures = CURVES.map((c) => ({ ...c, plot: el('div', { class: 'plot', 'aria-hidden': 'true' }), key: el('figcaption', {}, t(`live_curve_${c.name}`)) }));
  const past = []; // [seconds, left, held, requests a second]
  let shown = null; // the newest answer, and when it came
  let came = 0;
  let giving = false;
  const steer = acts(page, (is) => (giving = is));

  put(
    page.node,
    el('section', { class: 'panel' }, el('h2', {}, `${page.id} · ${first.stock.value.title} `, state), facts, el('div', { class: 'row-actions' }, page.may('export') && el('a', { class: 'button plain small', href: placeOf('item', page.id) }, t('live_act')), page.may('open') && el('a', { class: 'button plain small', href: placeOf('money') }, t('live_money')))),
    trouble,
    steer.node,
    checks,
    el('div', { class: 'curves' }, figures.map((c) => el('figure', { class: 'panel curve', id: `curve-${c.name}` }, c.key, c.plot))),
    el('div', { class: 'parts' }, parts.map((p) => el('section', { class: 'panel part', id: `live-${p.name}` }, el('h2', {}, t(`live_part_${p.name}`), p.shop && el('small', { class: 'soft' }, ` ${t('live_shop')}`)), p.age, p.list, p.extra))),
    numbers,
  );

  const ageOf = (at) => (Date.parse(shown.now) - Date.parse(at) + (performance.now() - came)) / 1000;
  function ages() {
    for (const p of parts) {
      const { at, failed } = shown[p.of];
      const age = at && Math.max(0, ageOf(at)).toFixed(1);
      p.age.classList.toggle('off', Boolean(failed));
      setText(p.age, !at ? t('live_never') : failed ? t('live_failed', { age, why: failed }) : t('live_age', { age }));
    }
  }

  function show(seen) {
    shown = seen;
    came = performance.now();
    steer.show(seen);
    const s = seen.stock.value;
    setText(state, tOr(`items_state_${s.state}`, s.state));
    state.className = `pill ${{ online: 'good', stopped: 'bad', waiting: 'wait' }[s.state] || ''}`;
    setText(facts, `${when(s.opens, true)} – ${when(s.closes, true)}`);
    for (const p of parts) {
      const { value } = seen[p.of];
      fill(p.list, p.figures(value, seen, price));
      setText(p.extra, p.note?.(value) || '');
    }
    ages();
    const wrong = seen.ready.filter((c) => !c.ok).length;
    const begun = Date.parse(s.opens) <= Date.parse(seen.now);
    checks.hidden = begun && !wrong; // once the sale has begun, only what is wrong matters
    setText(readyTitle, t(begun ? 'live_ready_late' : 'live_ready'));
    setText(readyWord, wrong ? t('live_ready_no', { n: wrong }) : t('live_ready_yes'));
    fillChecks(ready, seen.ready);
    const second = Date.parse(seen.now) / 1000;
    past.push([second, s.left, s.held, seen.metrics.value.requests_per_second]);
    while (past[0][0] < second - KEPT) past.shift();
    if (numbers.open) fillNumbers();
    for (const c of figures) c.curve?.show(dataOf(c, seen, past));
  }

  function fillNumbers() {
    const key = JSON.stringify([shown.metrics.value.minutes, shown.counts.value.minutes]);
    if (minutes.dataset.key === key) return;
    minutes.dataset.key = key;
    const rows = byMinute(shown).reverse();
    const column = (name, title = `live_${name}`, cell = (r) => String(r[name] ?? '–')) => ({ name, title: t(title), figure: true, cell });
    put(minutes, table(page, t('live_minutes'), [{ name: 'minute', title: t('live_minute'), cell: (r) => when(r.at) }, column('presses'), column('refused', 'live_refused'), column('errors'), column('p99_ms', 'live_p99', (r) => milliseconds(r.p99_ms ?? null)), column('placed'), column('paid'), column('given_back')], rows));
  }

  async function draw() {
    document.getElementById('curves-style').disabled = false; // it is loaded now
    const { curves, DASHES } = await import('./curves.js');
    if (page.signal.aborted) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = [colour('--price'), colour('--good'), colour('--wait')];
    for (const c of figures) {
      const lines = c.lines.map((_, i) => ({ colour: colours[i], dash: DASHES[i] }));
      c.key.append(...c.lines.map((name, i) => el('span', { class: 'line' }, svg('svg', { viewBox: '0 0 26 8', 'aria-hidden': 'true' }, svg('line', { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colours[i], 'stroke-width': 3, 'stroke-dasharray': DASHES[i].join(' ') })), t(`live_${name}`))));
      c.curve = curves(c.plot, { lines, clock: (at) => clockOf(at, !c.of), span: c.of ? 60 * SHOWN : 30, ink: colour('--soft'), grid: colour('--line') });
      c.curve.show(dataOf(c, shown, past));
    }
    page.signal.addEventListener('abort', () => figures.forEach((c) => c.curve.end()));
  }

  const say = (text) => {
    trouble.hidden = !text;
    setText(trouble, text);
  };
  const ended = (problem) =>
    new Promise((resolve) => {
      const again = el('button', { class: 'button small', type: 'button', id: 'live-again', onclick: async () => (await signedInAgain(problem)) && resolve() }, t('live_again'));
      trouble.hidden = false;
      put(trouble, t('live_ended'), ' ', again);
      page.signal.addEventListener('abort', resolve);
    });
  return { show, ages, say, ended, busy: () => giving, curves: draw };
}

/** Fills in a list of names and values; what stays is not touched. */
function fill(list, rows) {
  const nodes = list.children;
  const same = nodes.length === rows.length && rows.every(([name], i) => nodes[i].firstChild.textContent === name);
  if (!same) return void put(list, rows.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, String(value)))));
  rows.forEach(([, value], i) => setText(nodes[i].lastChild, String(value)));
}

function fillChecks(list, checks) {
  const key = JSON.stringify(checks.map((c) => (c.check === 'clock' ? { ...c, detail: '' } : c)));
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const text = (c) => tOr(`live_check_${c.check}`, c.check, { detail: queueName(c.detail || '') });
  put(list, checks.map((c) => el('li', {}, el('span', { class: `pill ${c.ok ? 'good' : c.unknown ? 'wait' : 'bad'}` }, t(c.ok ? 'live_ok' : c.unknown ? 'live_unknown' : 'live_not')), ' ', text(c))));
}

/** The newest minutes, ascending, each with what is known of it. */
export function byMinute(seen) {
  const of = new Map();
  for (const part of [seen.metrics.value.minutes, seen.counts.value.minutes]) {
    for (const m of part || []) of.set(Date.parse(m.minute), { ...of.get(Date.parse(m.minute)), ...m, at: Date.parse(m.minute) });
  }
  return [...of.values()].sort((a, b) => a.at - b.at).slice(-MINUTES);
}

/** The data of a curve: [seconds, values of each line]. Minutes in which nothing happened are 0, earlier ones a gap. */
export function dataOf({ name, of, lines }, seen, past) {
  if (!of) {
    const columns = name === 'stock' ? [1, 2] : [3];
    return [past.map((p) => p[0]), ...columns.map((c) => past.map((p) => p[c]))];
  }
  const minutes = new Map((seen[of].value.minutes || []).map((m) => [Date.parse(m.minute) / 60_000, m]));
  const end = of === 'counts' ? Math.floor(Date.parse(seen.now) / 60_000) : Math.max(...minutes.keys());
  if (!Number.isFinite(end)) return [[], ...lines.map(() => [])];
  const first = Math.min(...minutes.keys());
  const at = [];
  for (let minute = Math.max(Math.min(first, end - SHOWN), end - MINUTES + 1); minute <= end; minute++) at.push(minute);
  return [at.map((minute) => minute * 60), ...lines.map((line) => at.map((minute) => (minute < first ? null : (minutes.get(minute)?.[line] ?? 0))))];
}

const clockOf = (at, withSeconds) => new Date(at * 1000).toTimeString().slice(0, withSeconds ? 8 : 5);
