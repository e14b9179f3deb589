// The storefront: which page is shown, in which language, for whom. Addresses after # name the page, so that every one
// can be kept and reloaded: #/ sales, #/item/ID, #/orders, #/order/ID.
import { itemDetail } from './api.js';
import { openPurchase } from './buy.js';
import { knownNow, onSecond, startClock } from './clock.js';
import { dropSheetEntry } from './dialogs.js';
import { put, setText } from './dom.js';
import { holdsBar } from './holds.js';
import { startLanguage, switchLanguage, t, translate } from './i18n.js';
import { homeView, itemView } from './items.js';
import { orderView, ordersView } from './orders.js';
import { arrive } from './pay.js';
import { startRenewal } from './renewal.js';
import { onShopper, shopper } from './session.js';
import { finishSignIn, takeAnswer, whoSheet } from './who.js';

const answer = takeAnswer(); // first of all: a code does not stay in an address

const main = document.getElementById('main');
const content = document.getElementById('content');
let view = { stop() {} };

const ROUTES = [
  { match: /^#\/orders$/, name: 'orders', show: () => ordersView() },
  { match: /^#\/order\/([a-z2-7]+)$/, name: 'orders', show: (id) => orderView(id) },
  { match: /^#\/item\/(\d+)$/, name: 'item', show: (id) => itemView(id, openPurchase) },
  { match: /^/, name: 'home', show: () => homeView(openPurchase) },
];

function show() {
  const hash = location.hash;
  const route = ROUTES.find((r) => r.match.test(hash));
  view.stop();
  view = route.show(hash.match(route.match)[1]);
  put(content, view.node);
  document.getElementById('hero').hidden = route.name !== 'home';
  document.title = route.name === 'orders' ? `${t('nav_orders')} · ${t('brand')}` : `${t('hero_title')} · ${t('brand')}`;
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
