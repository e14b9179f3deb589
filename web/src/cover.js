// An item's picture: its first cover, or, without a cover that loads, a picture drawn from its id and title.
import { el, svg } from './dom.js';

const SIZE = 240;
const HUES = [6, 18, 30, 150, 205, 225, 262, 335]; // hues that look well beside red

/** A picture's address under the page's own: the shop may lie below a stage's path. */
export const pictureAddress = (src) => src?.replace(/^\/(?!\/)/, '');

/** `eager`: it is among the first that are seen. */
export function cover(item, eager) {
  const src = pictureAddress(item.commodity.covers?.[0]);
  if (!src) return drawn(item);
  const picture = el('img', { src, alt: '', loading: eager ? 'eager' : 'lazy', decoding: 'async', width: SIZE, height: SIZE });
  picture.addEventListener('error', () => picture.replaceWith(drawn(item)), { once: true });
  return picture;
}

// The same item always looks the same.
function drawn(item) {
  let seed = 0;
  for (const c of String(item.id)) seed = (seed * 31 + c.charCodeAt(0)) >>> 0;
  const hue = HUES[seed % HUES.length];
  const title = [...(item.commodity.title || '?')];
  const lines = [title.slice(0, 6).join(''), title.slice(6, 12).join('')].filter(Boolean);
  const viewBox = `0 0 ${SIZE} ${SIZE}`;
  // The ground fills a cover of any shape, and the text stays whole in it.
  return svg(
    'svg',
    { 'aria-hidden': 'true' },
    svg(
      'svg',
      { viewBox, preserveAspectRatio: 'xMidYMid slice' },
      svg('rect', { width: SIZE, height: SIZE, fill: `hsl(${hue} 58% 56%)` }),
      svg('circle', { cx: 196, cy: 44, r: 92, fill: `hsl(${hue + 14} 66% 66%)`, opacity: 0.7 }),
      svg('circle', { cx: 28, cy: 226, r: 84, fill: `hsl(${hue - 12} 56% 46%)`, opacity: 0.6 }),
      svg('path', { d: 'M132 36 84 108h32l-14 60 54-80h-34z', fill: '#fff', opacity: 0.22 }),
    ),
    svg(
      'svg',
      { viewBox },
      lines.map((line, i) =>
        svg(
          'text',
          { x: SIZE / 2, y: 128 + (i - (lines.length - 1) / 2) * 40, fill: '#fff', 'font-size': 32, 'font-weight': 700, 'text-anchor': 'middle', 'dominant-baseline': 'middle' },
          line.trim(),
        ),
      ),
    ),
  );
}
