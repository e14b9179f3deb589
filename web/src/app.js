// The storefront: which page is shown, in which language, for whom. Addresses after # name the page, so that every one
// can be kept and reloaded: #/ sales, #/item/ID, #/orders, #/order/ID.
import { itemDetail, myOrders, orderAct, orderDetail } from './api.js';
import { openPurchase } from './buy.js';
import { knownNow, onSecond, startClock } from './clock.js';
import { clockText, holding, lookAgain, moneyText, orderOf, outcome, yuan } from './core.js';
import { cover } from './cover.js';
import { confirmSheet, dropSheetEntry } from './dialogs.js';
import { announce, el, icon, put, setText } from './dom.js';
import { io } from './door.js';
import { holdsBar, noteOrder } from './holds.js';
import { startLanguage, switchLanguage, t, translate, when } from './i18n.js';
import { backLink, homeView, itemView } from './items.js';
import { lineOf } from './line.js';
import { showOrder } from './panel.js';
import { arrive, cashierNote, payButton } from './pay.js';
import { follow } from './purchase.js';
import { startRenewal } from './renewal.js';
import { drafts, keepDraft, onShopper, onSignInEnded, shopper } from './session.js';
import { optionsText } from './variants.js';
import { finishSignIn, signIn, takeAnswer, whoSheet } from './who.js';

const answer = takeAnswer(); // first of all: a code does not stay in an address

const main = document.getElementById('main');
const content = document.getElementById('content');
let view = { stop() {} };

const ROUTES = [
  { match: /^#\/orders$/, name: 'orders', show: () => later((part) => part.ordersView()) },
  { match: /^#\/order\/([a-z2-7]+)$/, name: 'orders', show: (id) => later((part) => part.orderView(id)) },
  { match: /^#\/item\/(\d+)$/, name: 'item', show: (id) => itemView(id, openPurchase, setTitle) },
  { match: /^(#\/?)?$/, name: 'home', show: () => homeView(openPurchase) },
  { match: /^/, name: 'none', show: () => ({ node: nothing('page_gone'), stop() {} }) },
];

const setTitle = (text) => (document.title = `${text} · ${t('brand')}`);
const nothing = (name, ...more) => el('div', { class: 'empty' }, icon('empty'), el('h1', {}, t(name)), more.length ? more : el('a', { class: 'button', href: '#/' }, t('nav_home')));

// The views of orders are a part of the page of their own (orders.js).
const orders = () => import('./orders.js').then((part) => part.views({ ...io, myOrders, orderAct, orderDetail, clockText, holding, lookAgain, moneyText, orderOf, outcome, yuan, cover, confirmSheet, announce, icon, when, backLink, noteOrder, lineOf, showOrder, cashierNote, payButton, follow, drafts, keepDraft, optionsText, signIn }));

function later(choose) {
  const node = el('div', {}, el('p', { class: 'empty' }, t('loading')));
  let left = false;
  let inner = { stop() {} };
  const load = async () => {
    try {
      const part = await orders();
      if (left) return;
      inner = choose(part);
      node.replaceWith(inner.node);
    } catch {
      put(node, nothing('no_answer', el('button', { class: 'button', type: 'button', onclick: load }, t('retry'))));
    }
  };
  load();
  const stop = () => {
    left = true;
    inner.stop();
  };
  return { node, stop };
}

function show() {
  const hash = location.hash;
  const route = ROUTES.find((r) => r.match.test(hash));
  view.stop();
  setTitle(t({ orders: 'nav_orders', none: 'page_gone' }[route.name] || 'hero_title'));
  view = route.show(hash.match(route.match)[1]);
  put(content, view.node);
  document.getElementById('hero').hidden = route.name !== 'home';
  for (const link of document.querySelectorAll('[data-route]')) {
    if (link.dataset.route === route.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function showShopper() {
  const button = document.getElementById('who');
  const who = shopper();
  setText(button, who ? who.name : t('sign_in'));
  button.setAttribute('aria-label', who ? `${t('shopper_now', { name: who.name })}. ${t('who')}` : t('sign_in'));
}

function showAll() {
  translate(document);
  showShopper();
  drawHolds();
  show();
}

// A new page begins at its top, for eyes and screen readers alike.
function moved() {
  show();
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
}

async function openItem(item, back) {
  try {
    openPurchase(await itemDetail(item), back);
  } catch {
    location.hash = `#/item/${item}`; // its page says what is wrong
  }
}

// Who comes back from an issuer finds what they left.
async function comeBack() {
  const place = await finishSignIn(answer);
  if (place?.item) openItem(place.item, place);
}

startLanguage();
arrive();
const drawHolds = holdsBar(document.getElementById('holds'), (item) => openItem(item));
onShopper(() => {
  showShopper();
  show();
});
onSignInEnded(() => location.hash.startsWith('#/order') && show()); // which asks anew, and gets nothing
document.getElementById('language').addEventListener('click', () => {
  switchLanguage();
  showAll();
});
document.getElementById('who').addEventListener('click', whoSheet);
window.addEventListener('hashchange', moved);
// The part after # is the page's name here, so the skip link must not change it.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});

const clockFace = document.getElementById('server-time');
const ZONED = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' };
onSecond(() => setText(clockFace, knownNow() === undefined ? '…' : new Date(knownNow()).toLocaleTimeString('en-GB', ZONED)));
dropSheetEntry();
startClock();
showAll();
startRenewal();
if (answer) comeBack();
