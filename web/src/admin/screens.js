// Every screen of the back office, in the order of the menu.
//
// To add one, write a file beside this one, and add what it exports to SCREENS:
//
//   import { el, put } from '../dom.js';
//   import { t } from '../i18n.js';
//   import { command } from './call.js';
//   import { addTexts } from './texts.js';
//
//   addTexts({ hello_title: ['你好', 'Hello'] });   // [Chinese, English]; names begin with the screen's
//
//   export const hello = {
//     name: 'hello',             // its address is #/hello, or #/hello/ID if it is about one thing
//     title: 'hello_title',      // the name of a text: in the menu, in the window's title, as the page's <h1>
//     titleNew: 'hello_new',     // the same where it is about nothing yet; left out: title
//     needs: ['health'],         // commands: who may give one of them has the screen. [] means everybody
//     menu: true,                // false: other screens link to it
//     async show(page) {
//       put(page.node, el('p', {}, (await command('health')).now));
//     },
//   };
//
// show draws into page.node, below the <h1>, which stands there already, and returns once the first drawing is whole. It
// is called anew when the address or the language changes. What it throws is shown in words, with a button to try again.
// page has
//
//   node, id and query        what follows the name in the address (place.js writes addresses), query as URLSearchParams
//   name                      the screen's; page itself is the "place" that table.js wants
//   may(command)              whether the person may give a command
//   who, now()                who is signed in; the time, ms
//   signal                    aborts when the screen is left: give it to listeners, fetches and waits
//   go(query)                 changes the address's query: { state: 'paid', after: '' }; draws anew in any case
//   again()                   draws the screen anew, such as after a command
//   said(text)                says a result above the page, also to those who do not see it; it stays for one drawing
//
// Use form.js for what is typed, table.js for lists, confirm.js for what cannot be taken back. No style attributes and no
// HTML texts: the pages' policy forbids them. Then `go run ./web/bundle`.
import { activities, activity } from './activities.js';
import { act, acts } from './acts.js';
import { audit } from './audit.js';
import { bills } from './bills.js';
import { blocks } from './blocks.js';
import { imports } from './import.js';
import { edit } from './itemedit.js';
import { item, items } from './items.js';
import { live } from './live.js';
import { money } from './money.js';
import { order } from './order.js';
import { orders } from './orders.js';
import { ship } from './ship.js';

export const SCREENS = [orders, order, ship, live, money, bills, activities, activity, items, item, edit, imports, blocks, acts, act, audit];
