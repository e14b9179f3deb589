// What a shopper takes along from an item's page: its link, and a reminder of its opening for their calendar. A part of
// the page that is loaded when it is wanted. It imports nothing.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  opens: ['{title} 开抢', '{title} is on sale'],
  link_copied: ['链接已复制', 'The link is copied'],
};

const LENGTH = 75; // bytes of a line in a calendar's file

const utc = (time) => new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
const plain = (text) => text.replace(/[\\;,]/g, '\\$&').replace(/[\r\n]+/g, ' ');

/** A calendar's file (RFC 5545) that reminds of an item's opening ten minutes before it. */
export function calendar(item, title, url, now) {
  const lines = [
    'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//seckill//EN', 'BEGIN:VEVENT',
    `UID:${item.id}-${utc(item.start_time)}@seckill`, `DTSTAMP:${utc(now)}`, `DTSTART:${utc(item.start_time)}`, 'DURATION:PT10M',
    `SUMMARY:${plain(title)}`, `URL:${url}`,
    'BEGIN:VALARM', 'ACTION:DISPLAY', `DESCRIPTION:${plain(title)}`, 'TRIGGER:-PT10M', 'END:VALARM', 'END:VEVENT', 'END:VCALENDAR', '',
  ];
  return lines.map(folded).join('\r\n');
}

// A longer line goes on in the next one, after a blank.
function folded(line) {
  const bytes = new TextEncoder();
  let out = '';
  let size = 0;
  for (const c of line) {
    const n = bytes.encode(c).length;
    if (size + n > LENGTH) {
      out += '\r\n ';
      size = 1;
    }
    out += c;
    size += n;
  }
  return out;
}

/** Gives the shopper the file. */
export function remind({ el, t, TEXTS: all, now }, item, name, url) {
  Object.assign(all, TEXTS);
  const file = new Blob([calendar(item, t('opens', { title: name }), url, now())], { type: 'text/calendar' });
  const href = URL.createObjectURL(file);
  el('a', { href, download: `${item.id}.ics` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Shares the link by what the device has, or copies it; resolves with what to say, or "". */
export async function share({ t, TEXTS: all }, title, url) {
  Object.assign(all, TEXTS);
  try {
    if (navigator.share) await navigator.share({ title, url });
    else {
      await navigator.clipboard.writeText(url);
      return t('link_copied');
    }
  } catch {
    return ''; // the shopper thought better of it
  }
  return '';
}
