// What a shopper sees and does after paying, on a Chinese phone and on an English computer: the parcel, "I received it",
// asking for a refund, and whether the order is in the sale's report. SECKILL=BIN node after.mjs BASE OUT; it needs a fresh
// `seckill run --stock 40 --limit 20`, and BIN makes the report, with the demo key of both. It moves that system's clock
// by weeks.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXPECTED, advance, ask, axe, base, cashierTab, check, close, finish, fits, has, mine, open, picture, same, says, tabTo, tool, until } from './harness.mjs';

let { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
const json = { 'Content-Type': 'application/json' };
EXPECTED.push(/status of 422/, /net::ERR_FAILED/); // a reason that the shop refuses; a request that is lost

const PLACES = [
  { lang: 'zh', size: 'phone', n: 0, copy: '复制', paid: '支付成功', confirmed: '商家已接单', shipped: '已发货', received: '已收货', completed: '已完成', refundDue: '退款中', refunded: '已退款', prices: '购买时的价格', receive: '我已收到', signInEnded: '您的登录已到期', by: '自动视为已收货', ask: '申请退款', why: '退款原因', send: '提交申请', empty: '请填写退款原因', long: '最多 500 个字，现在有 501 个', refused: '请写明原因', lost: '暂时没有得到答复', asked: '您已申请退款', report: '核对秒杀报告', check: '核对', filled: '验证公钥和盐已由本页填好', noFile: '请选择证明文件', inIt: '签名的报告里', says: '已收货，1 件', notIn: '签过名的报告里没有这一行', unsigned: '签名不对', buyer: '盐不对', other: '不是这笔订单的证明', damaged: '已损坏', key: '另一把密钥', noKey: '这不是验证公钥' },
  { lang: 'en', size: 'desktop', n: 1, copy: 'Copy', paid: 'Paid', confirmed: 'Confirmed', shipped: 'Shipped', received: 'Received', completed: 'Completed', refundDue: 'Refund on its way', refunded: 'Refunded', prices: 'Prices when you bought it', receive: 'I received it', signInEnded: 'Your sign-in has ended', by: 'it counts as received on', ask: 'Ask for a refund', why: 'Why do you want your money back?', send: 'Send', empty: 'Please say why', long: 'At most 500 characters. There are 501', refused: 'Please give a reason of 1 to 500 characters', lost: 'There was no answer', asked: 'You asked for a refund', report: 'Check that this order is in the sale’s report', check: 'Check', filled: 'has filled in the verifier and the salt', noFile: 'Please choose the file', inIt: 'is in the report that', says: 'Received, × 1', notIn: 'has no such line', unsigned: 'The signature is wrong', buyer: 'the salt is wrong', other: 'not a proof of this order', damaged: 'damaged', key: 'signed with another key', noKey: 'not a verifier' },
];
const who = (place) => shoppers[place.n];

async function operator(command, fields) {
  const answer = await ask('_local/operator', { method: 'POST', headers: json, body: JSON.stringify({ operator: { command, who: 'wang', ...fields } }) });
  if (answer.problem) throw new Error(`${command}: ${JSON.stringify(answer.problem)}`);
}
const ship = (order) => operator('ship', { parcels: [{ order, carrier: 'SF Express 顺丰', number: `SF${order.slice(-12)}` }], confirm: true });
const orderOf = (place, id) => ask(`order/${id}`, mine(who(place)));
const stateOf = (place, id, want) => until(`order ${id}`, async () => (await orderOf(place, id)).state, want);
const at = (place, id) => open({ ...place, shopper: who(place), path: `#/order/${id}` });
const looksAgain = (page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
const focused = (page) => page.evaluate(() => document.activeElement.id);
const text = (page) => page.locator('#content').innerText();

/** Buys one unit and pays it, in a tab that is closed again. */
async function paidOrder(place) {
  const body = JSON.stringify({ seckill_id: item.id, count: 1, address: 'x' });
  const { order_id: id } = await ask('seckill/buy', { method: 'POST', headers: { ...mine(who(place)).headers, ...json }, body });
  await stateOf(place, id, 'pending_payment');
  const page = await open({ ...place, shopper: who(place) });
  const cashier = await cashierTab(page, who(place), id);
  await cashier.locator('#pay').click();
  await stateOf(place, id, 'paid');
  await close(page);
  return id;
}

const kept = {}; // orders by place, for what comes weeks later

for (const place of PLACES) {
  const { lang, size } = place;
  const on = `${size}, ${lang}`;

  await check(`${on}: paid, confirmed and shipped are shown by themselves; receipt is confirmed by keyboard`, async () => {
    const id = await paidOrder(place);
    kept[lang] = { received: id };
    const page = await at(place, id);
    await says(page, place.paid);
    await page.getByText(place.ask).waitFor();
    has(await text(page), [item.commodity.title, `¥${item.sk_price.toFixed(2)}`, `¥${item.commodity.price.toFixed(2)}`, place.prices]);
    same(await page.locator('#head-parcel').count(), 0, 'parcels of an order that is not shipped');
    same(await page.getByText(place.report).count(), 0, 'checks of a report before the sale is over');
    await operator('confirm', { order: id });
    await looksAgain(page);
    await says(page, place.confirmed);
    await ship(id);
    await looksAgain(page);
    await says(page, place.shipped);
    const shown = await text(page);
    has(shown, ['SF Express 顺丰', `SF${id.slice(-12)}`, place.by]);
    const places = ['SF Express', item.commodity.title, place.prices, place.ask];
    const found = places.map((words) => shown.indexOf(words));
    same(String(found), String([...found].sort((a, b) => a - b)), `the parcel before the goods, the rest after: ${places}`);
    same(await page.getByRole('button', { name: place.copy }).count(), 2, 'buttons that copy a number');
    await picture(page, `shipped-${lang}`);
    await fits(page, `shipped, ${on}`);
    await page.locator('#main').focus();
    await tabTo(page, page.getByRole('button', { name: place.receive }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.locator('dialog .danger'));
    await page.keyboard.press('Enter');
    await says(page, place.received);
    await until('focus', () => focused(page), 'head-parcel');
    await until('read out', () => page.locator('#live').innerText().then((s) => s.includes(place.received)), true);
    same((await orderOf(place, id)).state, 'received', 'the ledger');
    same(await page.getByRole('button', { name: place.receive }).count(), 0, 'buttons to confirm it again');
    await fits(page, `received, ${on}`);
    await close(page);
  });

  await check(`${on}: a refund is asked for by keyboard; what is wrong stands beside the field, and what was typed stays`, async () => {
    const id = await paidOrder(place);
    const page = await at(place, id);
    await says(page, place.paid);
    await page.locator('#main').focus();
    await tabTo(page, page.locator('summary').filter({ hasText: place.ask }));
    await page.keyboard.press('Enter');
    const field = page.getByLabel(place.why);
    const fault = page.locator('#refund-fault');
    const send = page.getByRole('button', { name: place.send, exact: true });
    await tabTo(page, send);
    await page.keyboard.press('Enter');
    await fault.getByText(place.empty).waitFor();
    same(await focused(page), 'refund-why', 'focus');
    same(await field.getAttribute('aria-invalid'), 'true', 'aria-invalid');
    has(await field.getAttribute('aria-describedby'), ['refund-fault']);
    await field.fill('好'.repeat(501));
    await send.click();
    await fault.getByText(place.long).waitFor();
    await field.fill('too\u0007small');
    await send.click();
    await fault.getByText(place.refused).waitFor(); // the shop's words
    same(await field.inputValue(), 'too\u0007small', 'typed');
    await page.route('**/refund-request', (route) => route.abort('failed'), { times: 1 });
    await field.fill('太小了。\n Too small');
    await send.click();
    await fault.getByText(place.lost).waitFor();
    await fits(page, `refund form, ${on}`);
    await picture(page, `refund-form-${lang}`);
    await page.locator('#language').click(); // draws the page anew
    await page.locator('#language').click();
    same(await page.getByLabel(place.why).inputValue(), '太小了。\n Too small', 'typed, after the page was drawn anew');
    await page.getByRole('button', { name: place.send, exact: true }).click();
    await page.locator('h2').filter({ hasText: place.asked }).waitFor();
    await until('focus', () => focused(page), 'head-refund_asked');
    same((await orderOf(place, id)).refund_reason, '太小了。 Too small', 'the reason');
    same(await page.getByLabel(place.why).count(), 0, 'forms to ask again');
    has(await text(page), ['太小了。 Too small']);
    await axe(page, `refund asked, ${on}`);
    await picture(page, `refund-asked-${lang}`);
    await operator('refund', { order: id, why: 'asked for', restock: true });
    await looksAgain(page);
    await says(page, place.refundDue);
    await advance(60);
    await stateOf(place, id, 'refunded');
    await looksAgain(page);
    await says(page, place.refunded);
    await close(page);
  });

  await check(`${on}: who confirms the receipt of what was refunded meanwhile reads so`, async () => {
    const id = await paidOrder(place);
    await ship(id);
    const page = await at(place, id);
    await says(page, place.shipped);
    await operator('refund', { order: id, why: 'lost by the carrier' });
    await page.getByRole('button', { name: place.receive }).click();
    await page.locator('dialog .danger').click();
    await says(page, place.refundDue);
    has(await text(page), ['SF Express 顺丰']);
    await close(page);
  });

  await check(`${on}: a lost confirmation says so and can be sent again; no part of the page, and it says so`, async () => {
    const id = await paidOrder(place);
    kept[lang].silent = id;
    await ship(id);
    const page = await at(place, id);
    await page.route('**/received', (route) => route.abort('failed'));
    await page.getByRole('button', { name: place.receive }).click();
    await page.locator('dialog .danger').click();
    await page.locator('#content [role=alert]').getByText(place.lost).waitFor();
    same(await page.getByRole('button', { name: place.receive }).isEnabled(), true, 'may press again');
    same((await orderOf(place, id)).state, 'shipped', 'the ledger');
    await close(page);
    const without = await open({ ...place, shopper: who(place) });
    await without.route('**/assets/after-*', (route) => route.abort('failed'));
    await without.goto(new URL(`?lang=${lang}#/order/${id}`, base).href);
    await without.reload();
    await says(without, place.shipped);
    await without.getByText(place.lost).waitFor();
    await close(without);
  });
}

const DAY = 86_400;
const days = async (n) => {
  for (let left = n; left > 0; left -= 7) await advance(Math.min(7, left) * DAY);
  await advance(60);
  ({ shoppers } = await ask('_local/shoppers')); // those of before have ended
};

// The sale is over: its report is made.
await days(1);
const folder = mkdtempSync(join(tmpdir(), 'seckill-report-'));
const file = (name) => join(folder, name);
const VERIFIER = /\S+\+[0-9a-f]{8}\+\S+/;
const [another] = VERIFIER.exec(await tool('report', 'key', 'other.example', '--out', file('other')));
const [verifier] = VERIFIER.exec(await tool('report', 'make', '--url', new URL(base).origin, '--item', item.id, '--out', file('sale.jsonl')));

// Whose sign-in, an hour long and renewed for a day, ends while they look at an order.
const looking = [];
for (const place of PLACES) {
  const page = await open({ ...place, path: `#/order/${kept[place.lang].silent}` });
  await page.locator('#content').getByRole('button').click();
  await page.getByRole('link', { name: who(place).name }).click();
  await says(page, place.shipped);
  looking.push({ place, page });
}

await days(7);
EXPECTED.push(/status of 40[13]/);
for (const { place, page } of looking) {
  await check(`${place.size}, ${place.lang}: a sign-in that ended: said with a button, the order is taken away, and what was typed is there afterwards`, async () => {
    const again = page.locator('#renew').getByRole('button');
    same(await again.count(), 0, 'buttons before anything is sent');
    const addresses = () => Object.keys(sessionStorage).filter((name) => name.startsWith('seckill.address.')).length;
    await page.evaluate(() => sessionStorage.setItem(`seckill.address.${JSON.parse(sessionStorage.getItem('seckill.shopper')).user}`, '{"name":"x"}'));
    same(await page.evaluate(addresses), 1, 'addresses before the end is known');
    await page.locator('summary').filter({ hasText: place.ask }).click();
    await page.getByLabel(place.why).fill('too small 太小');
    await page.getByRole('button', { name: place.receive }).click();
    await page.locator('dialog .danger').click();
    await again.waitFor();
    has(await page.locator('#renew').innerText(), [place.signInEnded]);
    same(await page.evaluate(addresses), 0, 'addresses afterwards');
    await until('the order is taken away', () => text(page).then((shown) => shown.includes(item.commodity.title) || shown.includes('SF Express')), false);
    await page.locator('#content').getByRole('button').waitFor();
    await axe(page, `a sign-in that ended, ${place.size}, ${place.lang}`);
    await picture(page, `sign-in-ended-${place.lang}`);
    await again.click();
    await page.getByRole('link', { name: who(place).name }).click();
    await says(page, place.shipped);
    same(await again.count(), 0, 'buttons to sign in');
    same(await page.getByLabel(place.why).inputValue(), 'too small 太小', 'typed');
    await close(page);
  });
}
EXPECTED.pop();

for (const place of PLACES) {
  await check(`${place.size}, ${place.lang}: completed a week after receipt, and no refund is offered`, async () => {
    const id = kept[place.lang].received;
    await stateOf(place, id, 'completed');
    const page = await at(place, id);
    await says(page, place.completed);
    await page.getByText(place.report).waitFor();
    same(await page.getByText(place.ask).count(), 0, 'refund forms');
    await close(page);
  });
}

await days(8);
for (const place of PLACES) {
  await check(`${place.size}, ${place.lang}: received by itself after 15 days`, async () => {
    const id = kept[place.lang].silent;
    await stateOf(place, id, 'received');
    const page = await at(place, id);
    await says(page, place.received);
    same(await page.getByRole('button', { name: place.receive }).count(), 0, 'buttons to confirm it');
    await close(page);
  });
}

for (const place of PLACES) {
  const { lang, size } = place;
  await check(`${size}, ${lang}: the browser finds the order in the sale's report, and refuses whatever was changed`, async () => {
    const id = kept[lang].received;
    const { salt } = (await orderOf(place, id)).report;
    same((await fetch(new URL(`order/${id}`, base), mine(shoppers[1 - place.n]))).status, 404, 'as another shopper');
    const proof = JSON.parse(await tool('report', 'proof', file('sale.jsonl'), '--order', id, '--user', who(place).user, '--salt', salt, '--key', verifier));
    const elsewhere = await tool('report', 'proof', file('sale.jsonl'), '--order', kept[lang].silent, '--key', verifier);
    const name = file(`${lang}.json`);
    const page = await at(place, id);
    const asked = [];
    page.on('request', (r) => asked.push(r.url()));
    await page.locator('summary').filter({ hasText: place.report }).focus();
    await page.keyboard.press('Enter');
    const result = page.locator('details [role=status]');
    const press = page.getByRole('button', { name: place.check, exact: true });
    await page.getByText(place.filled).waitFor();
    same(await page.locator('#proof-key').inputValue(), verifier, 'the verifier, filled in');
    same(await page.locator('#proof-salt').inputValue(), salt, 'the salt, filled in');
    const judged = async (contents, want, { key = verifier, secret = salt, field = 'file' } = {}) => {
      writeFileSync(name, contents);
      await page.locator('#proof-file').setInputFiles(name);
      await page.locator('#proof-key').fill(key);
      await page.locator('#proof-salt').fill(secret);
      await press.click();
      if (!want) return result.getByText(place.inIt).waitFor();
      await page.locator(`#proof-${field}-fault`).getByText(want).waitFor();
      same(await result.innerText(), '', 'no result beside a fault');
      return same(await focused(page), `proof-${field}`, 'focus');
    };
    await press.click();
    await page.locator('#proof-file-fault').getByText(place.noFile).waitFor();
    await fits(page, `report form, ${size}, ${lang}`);
    const before = asked.length;
    writeFileSync(name, JSON.stringify(proof));
    await page.locator('#proof-file').setInputFiles(name); // nothing else is needed
    await press.click();
    await result.getByText(place.inIt).waitFor();
    has(await result.innerText(), [verifier.split('+')[0], place.says, ` ${proof.size}`]);
    await axe(page, `in the report, ${size}, ${lang}`);
    await press.scrollIntoViewIfNeeded();
    await picture(page, `in-report-${lang}`);
    // One byte each: of the line, of a hash beside it, of what was signed, of the signature.
    const flipped = (text, at) => text.slice(0, at) + (text[at] === '1' ? '2' : '1') + text.slice(at + 1);
    const amount = proof.line.indexOf('"amount_fen":') + 13;
    await judged(JSON.stringify({ ...proof, line: flipped(proof.line, amount) }), place.notIn);
    await judged(JSON.stringify({ ...proof, path: [flipped(proof.path[0], 3), ...proof.path.slice(1)] }), place.notIn);
    await judged(JSON.stringify({ ...proof, note: flipped(proof.note, proof.note.indexOf('\n') + 8) }), place.unsigned);
    await judged(JSON.stringify({ ...proof, note: flipped(proof.note, proof.note.length - 20) }), place.unsigned);
    await judged(elsewhere, place.other);
    await judged(JSON.stringify(proof).slice(1), place.damaged);
    await judged('null', place.other);
    await judged(' '.repeat(70_000), place.damaged);
    await judged(JSON.stringify(proof), place.buyer, { secret: salt.replace(/./, (c) => (c === '0' ? '1' : '0')), field: 'salt' });
    await judged(JSON.stringify(proof), place.key, { key: another, field: 'key' });
    await judged(JSON.stringify(proof), place.noKey, { key: 'x', field: 'key' });
    await picture(page, `not-in-report-${lang}`);
    await judged(JSON.stringify(proof), ''); // and it is in it again
    same(asked.slice(before).join(' '), '', 'asked of servers');
    await close(page);
  });
}
rmSync(folder, { recursive: true });
await finish();
