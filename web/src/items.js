// The sales: cards of live and upcoming items, and one item's page. Countdowns go by the server's clock, and an item
// opens at its instant without asking the server: a crowd that reloads together would be the first thing to fall over.
import { itemDetail, itemStatus, liveItems, upcomingItems } from './api.js';
import { at, knownNow, now, onSecond } from './clock.js';
import { LOOK_FAR, SPREAD, countdown, decide, isNear, leftShare, lookAgain, lookWait, percentOff, phase, yuan } from './core.js';
import { cover, pictureAddress } from './cover.js';
import { announce, el, icon, put, setText } from './dom.js';
import { door, io } from './door.js';
import { holdOf, onHolds } from './holds.js';
import { t, when } from './i18n.js';
import { noteOpenings } from './renewal.js';
import { readyFor } from './session.js';
import { limitText, nameOf } from './variants.js';

const PAGE = 50; // items asked for at once
const FEW = 0.2; // share of the stock below which only few units are left
const FIRST = 4; // cards whose pictures are loaded at once

const known = new Map(); // items as they were last looked at, by id
const watchers = new Set();

function note(items) {
  for (const item of items) known.set(item.id, item);
  for (const f of watchers) items.forEach(f);
}

/** Calls f(item) for each item that the page looks at; the answer ends it. */
export function onLook(f) {
  watchers.add(f);
  return () => watchers.delete(f);
}

/** The home page. `onBuy(item)` opens the purchase. Answers {node, stop}. */
export function homeView(onBuy) {
  const cards = new Map();
  const trouble = troubleNote(() => looks.soon());
  const sections = { live: section('live', 'none_live', again), upcoming: section('upcoming', 'none_upcoming', again) };
  const node = el('div', {}, trouble.node, sections.live.node, sections.upcoming.node);

  // Cards without an activity come first, then each activity below its own heading.
  const heads = new Map();
  function arrange() {
    const used = new Set();
    for (const [name, s] of Object.entries(sections)) {
      const groups = new Map([['', []]]);
      for (const card of cards.values()) {
        const id = card.item().activity?.id || '';
        if (card.phase() === name) groups.set(id, [...(groups.get(id) || []), card]);
      }
      s.show([...groups].flatMap(([id, group]) => {
        const nodes = group.map((card) => card.node);
        if (!id) return nodes;
        const key = `${name} ${id}`;
        if (!heads.has(key)) heads.set(key, activityHead());
        heads.get(key).update(group.map((card) => card.item()));
        used.add(key);
        return [heads.get(key).node, ...nodes];
      }));
    }
    for (const [key, head] of heads) {
      if (used.has(key)) continue;
      head.stop();
      heads.delete(key);
    }
  }

  function again(ms) {
    for (const l of lists) l.due = 0;
    looks.soon(ms);
  }

  // An item whose phase changes goes from one list to the other.
  function crossed() {
    arrange();
    again(Math.random() * SPREAD);
  }

  function show(items) {
    const families = new Map();
    for (const item of new Map(items.map((one) => [one.id, one])).values()) { // an item that opens between the two lists is in both
      if (readyFor(item.id)) door(item, (d) => d.prepare(item));
      const key = item.variant ? `family ${item.variant.family}` : item.id;
      families.set(key, [...(families.get(key) || []), item]);
    }
    for (const [key, family] of families) {
      if (!cards.has(key)) cards.set(key, itemCard(family.find((one) => one.stock > 0) || family[0], onBuy, crossed, { eager: cards.size < FIRST }));
    }
    for (const [key, card] of [...cards]) {
      if (families.has(key)) card.update(families.get(key));
      else {
        card.stop();
        cards.delete(key);
      }
    }
    arrange();
  }

  // A list is asked for when one of its items is near, or was not asked for during LOOK_FAR.
  const lists = [
    { load: () => sections.live.load(liveItems), items: [], due: 0 },
    { load: () => sections.upcoming.load(upcomingItems), items: [], due: 0 },
  ];
  const all = () => lists.flatMap((l) => l.items);
  const looks = repeated(() => lookWait(all(), knownNow()), async (left) => {
    const near = (l) => l.items.some((item) => isNear(item, knownNow()));
    const asked = lists.some(near) ? lists.filter((l) => near(l) || now() >= l.due) : lists;
    await Promise.all(asked.map(async (l) => (l.items = await l.load())));
    if (left()) return;
    for (const l of asked) l.due = now() + LOOK_FAR;
    noteOpenings(all());
    note(all());
    show(all());
  }, trouble.say);
  const redraw = onHolds(() => cards.forEach((card) => card.draw()));
  const stop = () => {
    looks.stop();
    redraw();
    for (const one of [...cards.values(), ...heads.values()]) one.stop();
  };
  return { node, stop };
}

// The heading of an activity's items. It counts down if they start or end at one time.
function activityHead() {
  const title = el('h3', {});
  const timing = countdownLine();
  let first;
  const tick = () => timing.update(first);
  const stop = onSecond(() => first && tick());
  const update = (items) => {
    [first] = items;
    setText(title, first.activity.title);
    const edge = phase(first, knownNow()) === 'upcoming' ? 'start_time' : 'end_time';
    timing.node.hidden = items.some((item) => item[edge] !== first[edge]);
    tick();
  };
  return { node: el('div', { class: 'activity' }, title, timing.node), update, stop };
}

// Runs f now and again after wait() ms while the page is looked at, and sooner after a failure, or when the network is
// back. f is told by left() when nobody waits for it any more; say(problem) what was wrong, undefined when nothing is.
function repeated(wait, f, say) {
  let timer = 0;
  let stopped = false;
  let failures = 0;
  const soon = (ms = 0) => {
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };
  let due = 0;
  let round = 0;
  const run = async () => {
    if (document.visibilityState === 'hidden') return; // seen() goes on
    const mine = ++round;
    let problem;
    try {
      await f(() => stopped);
    } catch (caught) {
      problem = caught;
    }
    if (stopped || mine !== round) return;
    say(problem);
    const again = problem && decide(problem) === 'retry';
    const ms = again ? lookAgain(failures, problem.retryAfter) : wait();
    failures = problem ? failures + 1 : 0;
    due = now() + ms;
    soon(ms);
  };
  const seen = () => document.visibilityState === 'visible' && !stopped && soon(Math.max(0, due - now()));
  const online = () => failures > 0 && soon();
  document.addEventListener('visibilitychange', seen);
  window.addEventListener('online', online);
  soon();
  const stop = () => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', seen);
    window.removeEventListener('online', online);
  };
  return { soon, stop };
}

// What stands above a list or an item that could not be looked at just now.
function troubleNote(again) {
  const words = el('span', {});
  const node = el('p', { class: 'notification row', role: 'status', hidden: true }, words, el('button', { class: 'button plain', type: 'button', onclick: () => again() }, t('retry')));
  const say = (problem) => {
    if (problem) setText(words, problem.detail || t('list_trouble'));
    node.hidden = !problem;
  };
  return { node, say };
}

// A list of cards that grows by pages.
function section(name, none, onMore) {
  const cards = el('div', { class: 'cards' }, el('div', { class: 'card ghost' })); // until the first look
  const empty = el('p', { class: 'empty', hidden: true }, icon('empty'), t(none));
  let pages = 1;
  const grow = () => {
    pages++;
    onMore();
  };
  const more = el('button', { class: 'button plain more', type: 'button', hidden: true, onclick: grow }, t('more'));
  const load = async (list) => {
    const found = [];
    let last = PAGE;
    for (let page = 1; page <= pages && last === PAGE; page++) {
      const items = await list(page, PAGE);
      last = items.length;
      found.push(...items);
    }
    more.hidden = last < PAGE;
    return found;
  };
  // Only what is out of place moves: moving a node loses the focus and a click that has begun in it.
  const show = (nodes) => {
    const focused = document.activeElement;
    nodes.forEach((n, i) => cards.children[i] === n || cards.insertBefore(n, cards.children[i] || null));
    while (cards.children.length > nodes.length) cards.lastChild.remove();
    if (nodes.some((n) => n.contains(focused))) focused.focus();
    empty.hidden = nodes.length > 0;
  };
  const heading = el('h2', { id: `head-${name}` }, el('span', { class: `dot ${name}`, 'aria-hidden': 'true' }), t(name));
  const node = el('section', { class: `band ${name}`, 'aria-labelledby': `head-${name}` }, heading, empty, cards, more);
  return { node, load, show };
}

// One item's card, or that of a family of variants: a list's card leads to the item's page, where one is chosen. It keeps
// its own countdown; onMove is called when the sale opens or ends, and onChoose(item) when another variant is chosen.
function itemCard(first, onBuy, onMove, { eager = false, onChoose } = {}) {
  let item = first;
  let family = [first];
  const title = el('a', {});
  const picture = el('a', { class: 'cover', tabindex: -1, 'aria-hidden': 'true' });
  const price = el('p', { class: 'price' });
  const stock = stockBar();
  const limit = el('span', { class: 'tag' });
  const opens = el('span', { class: 'tag' });
  const timing = countdownLine();
  const chooses = () => !onChoose && family.length > 1;
  const press = () => (chooses() && !holdOf(item.id) ? (location.hash = `#/item/${item.id}`) : onBuy(item));
  const button = el('button', { class: 'button', type: 'button', onclick: press });
  const options = el('div', {});
  let chooser;
  const choose = (chosen) => {
    item = chosen;
    draw();
    onChoose(item);
  };
  const node = el(
    'article',
    { class: 'card' },
    picture,
    el('div', { class: 'card-body' }, onChoose && item.activity && el('span', { class: 'soft' }, item.activity.title), el(onChoose ? 'h1' : 'h3', {}, title), price, options, stock.node, el('p', { class: 'tags' }, limit, opens)),
    el('div', { class: 'card-foot' }, timing.node, button),
  );
  let shown = '';
  let endAlarm = () => {};

  function draw() {
    const current = phase(item, knownNow());
    if (node.dataset.item !== item.id) {
      node.dataset.item = item.id;
      title.href = picture.href = `#/item/${item.id}`;
      put(picture, cover(item, eager));
    }
    chooser?.update(family, item);
    setText(title, item.commodity.title);
    put(price, priceParts(item));
    stock.update(item, current);
    setText(limit, limitText(item));
    setText(opens, t('starts_at', { time: when(item.start_time) }));
    opens.hidden = current !== 'upcoming';
    timing.update(item);
    const hold = holdOf(item.id);
    const sold = current === 'live' && item.stock <= 0;
    const buyable = current === 'live' || current === 'upcoming';
    setText(button, t(hold ? 'my_order' : sold ? 'sold_out' : chooses() && buyable ? 'choose' : { live: 'buy', upcoming: 'prepare', stopped: 'stopped', ended: 'over' }[current]));
    button.disabled = !hold && (sold || !buyable);
    button.className = current === 'upcoming' && !hold ? 'button plain' : 'button';
    node.classList.toggle('sold', sold && !hold);
    node.classList.toggle('mine', Boolean(hold));
    if (shown !== current) {
      endAlarm();
      const edge = { upcoming: item.start_time, live: item.end_time }[current];
      endAlarm = edge ? at(Date.parse(edge), cross) : () => {};
      if (shown === 'upcoming' && current === 'live') announce(`${nameOf(item)}: ${t('opened')}`);
      shown = current;
    }
  }

  function cross() {
    draw();
    onMove(card);
  }

  const card = {
    node,
    draw,
    item: () => item,
    phase: () => phase(item, knownNow()),
    update(fresh) {
      family = fresh;
      item = fresh.find((one) => one.id === item.id) || fresh.find((one) => one.stock > 0) || fresh[0];
      if (item.variant && onChoose && !chooser) {
        import('./chooser.js').then((part) => {
          put(options, (chooser ||= part.chooser(io, choose)).node);
          draw();
        }, () => {}); // the next look tries again
      }
      draw();
    },
    stop() {
      ticking();
      endAlarm();
    },
  };
  draw();
  let last = '';
  const ticking = onSecond(() => {
    timing.update(item);
    const current = phase(item, knownNow());
    if (last && last !== current) onMove(card); // the server's time arrived, and differs from the device's time
    if (shown !== current) draw();
    last = current;
  });
  return card;
}

function priceParts(item) {
  const percent = percentOff(item);
  return [
    el('span', { class: 'unseen' }, t('sale_price')),
    el('span', { class: 'now' }, el('small', {}, '¥'), yuan(item.sk_price)),
    percent > 0 && el('s', { class: 'was' }, el('span', { class: 'unseen' }, t('was')), `¥${yuan(item.commodity.price)}`),
    percent > 0 && el('span', { class: 'off' }, t('off', { n: percent })),
  ];
}

function stockBar() {
  const fill = el('span', { class: 'fill' });
  const text = el('span', { class: 'bar-text' });
  const bar = el('div', { class: 'bar', role: 'img' }, fill);
  const update = (item, current) => {
    const words =
      current === 'upcoming'
        ? t(item.max_sk_count === 1 ? 'stock_one' : 'stock_total', { all: item.max_sk_count })
        : item.stock > 0
          ? t(leftShare(item) < FEW ? 'left_few' : 'left', { n: item.stock, all: item.max_sk_count })
          : t('sold_out');
    setText(text, words);
    bar.setAttribute('aria-label', `${t('stock_label')}: ${words}`);
    node.hidden = current === 'ended' || current === 'stopped'; // nobody can buy these units
    fill.style.width = `${(current === 'upcoming' ? 1 : leftShare(item)) * 100}%`;
  };
  const node = el('div', { class: 'stock' }, bar, text);
  return { node, update };
}

// A line that counts down to the start or the end of a sale. It is not a live region: it changes each second.
function countdownLine() {
  const label = el('span', { class: 'soft' });
  const day = el('span', { class: 'day' });
  const parts = [0, 1, 2].map(() => el('b', {}));
  const digits = el('span', { class: 'digits' }, day, parts[0], ':', parts[1], ':', parts[2]);
  const node = el('p', { class: 'timing', role: 'timer', 'aria-live': 'off' }, label, digits);
  const update = (item) => {
    const current = phase(item, knownNow());
    const rest = Date.parse(current === 'upcoming' ? item.start_time : item.end_time) - now();
    const { days, parts: texts } = countdown(rest);
    setText(label, t({ upcoming: 'starts_in', live: 'ends_in', ended: 'over', stopped: 'stopped' }[current]));
    setText(day, days ? t('days', { n: days }) : '');
    texts.forEach((text, i) => setText(parts[i], text));
    digits.hidden = current === 'ended' || current === 'stopped' || knownNow() === undefined;
  };
  return { node, update };
}

/** One item's page; `onTitle(title)` is told what it is called. */
export function itemView(id, onBuy, onTitle) {
  const trouble = troubleNote(() => looks.soon());
  const main = el('div', {}, el('div', { class: 'card large ghost' }, el('h1', { class: 'unseen' }, t('loading'))));
  const node = el('div', { class: 'band' }, backLink('#/', 'nav_home'), trouble.node, main);
  const say = (problem) => {
    trouble.say(problem?.status === 404 ? undefined : problem);
    if (problem?.status === 404 && !card) put(main, el('div', { class: 'empty' }, icon('empty'), el('h1', {}, t('item_gone'))));
  };
  let card;
  let item = known.get(id); // what a list said, until the item has been looked at
  let looked = false;
  let family = [];
  let due = 0; // when the lists are asked for the variants
  let text;
  const show = () => {
    onTitle(nameOf(item));
    const other = about(item);
    text?.replaceWith(other);
    text = other;
  };
  const choose = (chosen) => {
    item = chosen;
    door(item, (d) => d.prepare(item));
    show();
    history.replaceState(history.state, '', `#/item/${item.id}`);
    looks.soon(); // its stock comes from the lists
  };
  const draw = () => {
    family = family.some((one) => one.id === item.id) ? family.map((one) => (one.id === item.id ? item : one)) : [item];
    if (card) return void card.update(family);
    card = itemCard(item, onBuy, () => looks.soon(Math.random() * SPREAD), { eager: true, onChoose: choose });
    card.node.classList.add('large');
    card.update(family);
    show();
    put(main, card.node, text);
  };
  const looks = repeated(() => lookWait(item ? [item] : [], knownNow()), async (left) => {
    if (looked) {
      const asked = item.id;
      const { left: stock, state } = await itemStatus(asked);
      if (item.id === asked) item = { ...item, stock, state };
    } else {
      const asked = item?.id || id;
      const fresh = await itemDetail(asked);
      if (left()) return;
      looked = true;
      if (!item || item.id === asked) item = fresh;
      noteOpenings([item]);
      door(item, (d) => d.prepare(item));
      if (card) show();
    }
    note([item]);
    if (item.variant && performance.now() >= due) {
      family = await import('./chooser.js').then((part) => part.familyOf({ liveItems, upcomingItems }, item)).catch(() => family);
      due = performance.now() + (family.length && LOOK_FAR);
    }
    if (!left()) draw();
  }, say);
  if (item) draw();
  const redraw = onHolds(() => card?.draw());
  const stop = () => {
    looks.stop();
    redraw();
    card?.stop();
  };
  return { node, stop };
}

// The link that says what the item is to whoever gets it, and the reminder.
function takeAlong(item) {
  const url = new URL(`item/${item.id}`, location.origin + location.pathname).href;
  const said = el('span', { class: 'soft', role: 'status' });
  const button = (name, f) => el('button', { class: 'link', type: 'button', onclick: () => import('./keep.js').then(f).then((text) => setText(said, text || ''), () => {}) }, t(name));
  return el(
    'p',
    {},
    phase(item, knownNow()) === 'upcoming' && button('remind', (part) => part.remind(io, item, nameOf(item), url)),
    (navigator.share || navigator.clipboard) && button('share', (part) => part.share(io, nameOf(item), url)),
    said,
  );
}

function about(item) {
  const detail = el('div', { class: 'rich' });
  detail.innerHTML = item.commodity.detail || ''; // the server sanitised it when the item was imported
  const more = (item.commodity.covers || []).slice(1);
  return el(
    'section',
    { class: 'panel' },
    el('h2', {}, t('detail')),
    el('dl', { class: 'facts' }, el('dt', {}, t('window')), el('dd', {}, `${when(item.start_time)} – ${when(item.end_time)}`)),
    takeAlong(item),
    detail,
    more.length > 0 &&
      el('div', { class: 'gallery' }, more.map((src, i) => el('img', { src: pictureAddress(src), alt: t('picture_of', { title: item.commodity.title, n: i + 2 }), loading: 'lazy' }))),
  );
}

/** A link back to a list. */
export const backLink = (href, name) => el('a', { class: 'back', href }, icon('back'), t(name));
