// The line over which an order's changes are pushed to whoever follows it, once its part of the page (push.js) is loaded;
// until then, and without it, they poll.
import { pushOffer } from './api.js';
import { pause } from './dom.js';
import { onToken, shopper } from './session.js';

const LOADED = 2_000; // ms that a look waits for push.js

/**
 * The line of an order, for follow; undefined where the shop pushes nothing. `offer` is what the answer to a purchase says
 * of push, and `since` how long ago the sale opened, ms.
 * Another shopper ends it; so does the signal.
 */
export function lineOf(orderId, offer, signal, since) {
  if (!offer && document.documentElement.dataset.push === undefined) return undefined;
  const wait = (ms, wake) => pause(ms, signal, wake);
  const user = () => shopper()?.user;
  const io = { orderId, offer, newOffer: () => pushOffer(orderId), wait, signal, user, onToken, since };
  let line;
  let loading;
  // Pages wait for it once; a page without push.js polls.
  const load = () => (loading ||= Promise.race([import('./push.js').then((push) => (line = push.openLine(io)), () => {}), wait(LOADED)]));
  return {
    async ready() {
      if (offer) await load();
      return line?.ready();
    },
    async wait(ms, order) {
      await load();
      return line ? line.wait(ms, order) : wait(ms);
    },
  };
}
