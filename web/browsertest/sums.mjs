// A sum in a picture, where an item of strict checks has no questions: seen, read out, shown in words, and answered.
// node sums.mjs BASE OUT; it needs a fresh `seckill run --items sums.csv`.
import { ask, axe, card, check, close, finish, open, picture, same, until } from './harness.mjs';

const { shoppers } = await ask('_local/shoppers');
const [item] = (await ask('seckill/ing?page=1&size=10')).seckills;

const TEENS = ['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'];
const ONES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const english = (word) => (ONES.includes(word) ? ONES.indexOf(word) : 10 + TEENS.indexOf(word));
const chinese = (word) => [...word].reduce((sum, c) => sum + (c === '十' ? 10 : '零一二三四五六七八九'.indexOf(c)), 0);

const PLACES = [
  { lang: 'zh', size: 'phone', shopper: shoppers[0], label: '图中的两个数相加是多少', toWords: '读文字', sum: /^(.+)加(.+)等于几？$/, number: chinese, ready: '按一下即可下单' },
  { lang: 'en', size: 'desktop', shopper: shoppers[1], label: 'What is the sum in the picture?', toWords: 'Read it in words', sum: /^What is (\w+) plus (\w+)\?$/, number: english, ready: 'Ready: one press buys' },
];

async function asked(place) {
  await check(`${place.size}, ${place.lang}: a sum is seen, read out and answered`, async () => {
    const page = await open(place);
    await card(page, item.id).locator('.button').click();
    const field = page.getByRole('textbox', { name: place.label });
    await field.waitFor();
    const image = page.locator('dialog form img');
    await until('the picture', () => image.evaluate((img) => img.naturalWidth > 0), true);
    const words = await image.getAttribute('alt');
    const [, a, b] = place.sum.exec(words) || [];
    const described = await field.evaluate((node) => document.getElementById(node.getAttribute('aria-describedby').split(' ')[0]).textContent);
    same(described, words, 'what is read out with the field');
    same(await page.locator('#answer-words').isVisible(), false, 'the words are shown unasked');
    await page.getByText(place.toWords).click();
    await page.locator('#answer-words').waitFor();
    await axe(page, 'a sum');
    await picture(page, `sum-${place.lang}`);
    await field.fill(String(place.number(a) + place.number(b)));
    await field.press('Enter');
    await page.locator('dialog').getByText(place.ready).waitFor();
    await close(page);
  });
}

await Promise.all(PLACES.map(asked));
await finish();
