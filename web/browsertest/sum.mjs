// The sum that a strict item without questions asks: as a picture, and in words for whoever does not see it, in both
// languages. node sum.mjs BASE OUT; it needs a fresh `seckill run --items sum.json`.
import { EXPECTED, ask, axe, card, check, finish, open, picture, same } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;
EXPECTED.push(/status of 403/); // a wrong answer

const NUMBERS = {
  zh: { sum: /^(.+)加(.+)等于几？$/, words: ['零', ...'一二三四五六七八九十', ...[...'一二三四五六七八九'].map((d) => `十${d}`)] },
  en: {
    sum: /^What is (.+) plus (.+)\?$/,
    words: 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
  },
};
const PLACES = [
  { lang: 'zh', size: 'phone', who: shoppers[0], ask: '图中算式的结果是多少？', wrong: '答案不对', ready: '按一下即可下单' },
  { lang: 'en', size: 'desktop', who: shoppers[1], ask: 'What is the result of the sum in the picture?', wrong: 'That was not right', ready: 'Ready: one press buys' },
];

for (const place of PLACES) {
  const { lang, size } = place;
  await check(`a sum, ${size}, ${lang}: the picture is seen, its words are the same sum, and its result gets a ticket`, async () => {
    const page = await open({ ...place, shopper: place.who });
    await card(page, item.id).locator('.button').click();
    const field = page.getByRole('textbox', { name: place.ask });
    await field.waitFor();
    const image = page.locator('dialog form img');
    same(await image.evaluate((i) => `${i.complete} ${i.naturalWidth} ${i.naturalHeight}`), 'true 200 64', 'the picture');
    const words = await image.getAttribute('alt');
    const [, a, b] = NUMBERS[lang].sum.exec(words);
    const result = NUMBERS[lang].words.indexOf(a) + NUMBERS[lang].words.indexOf(b);
    await picture(page, `sum-${lang}`);
    // to the end: axe takes a box that the button half covers for small
    await page.evaluate(() => document.querySelectorAll('dialog, dialog *').forEach((e) => (e.scrollTop = e.scrollHeight)));
    await axe(page, 'a sum');
    await page.locator('dialog summary').click();
    await page.locator('dialog details').getByText(words).waitFor();
    await field.fill(String(result + 1));
    await field.press('Enter');
    await page.locator('dialog').getByText(place.wrong).waitFor();
    await field.fill(String(result));
    await field.press('Enter');
    await page.locator('dialog').getByText(place.ready).first().waitFor();
  });
}

await finish();
