// Small helpers for building a document. Text only ever becomes text: nothing here parses HTML.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element. Properties: `class`, `on<event>` functions, and attributes (true sets an empty one; false, null and
 * undefined set none). Children are nodes or text; null and false are left out.
 */
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** Puts these children in the place of all there were. */
export function put(node, ...children) {
  node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

/** Sets a text only when it differs: an aria-live region would read it out again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Drawn on a 24 by 24 grid, strokes in the colour of the text.
const ICONS = {
  back: 'M15 5l-7 7 7 7',
  check: 'M4 13l5 5L20 6',
  close: 'M6 6l12 12M18 6L6 18',
  clock: 'M12 3a9 9 0 100 18 9 9 0 000-18zM12 7v5l3.5 2',
  person: 'M12 4a4 4 0 100 8 4 4 0 000-8zM4.5 20c1-4 4-5.500 7.500-5.500s6.500 1.500 7.500 5.500',
  undo: 'M8 5L4 9l4 4M4 9h10a5 5 0 010 10h-3',
  empty: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
};

/** A picture that says nothing that the text beside it does not. */
export function icon(name) {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    svg('path', { d: ICONS[name], fill: 'none', stroke: 'currentColor', 'stroke-width': 2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }),
  );
}

/** Reads a text out to those who do not see the page. What lies behind an open dialog is inert and stays silent. */
export function announce(text) {
  setText(document.querySelector('dialog .live') || document.getElementById('live'), text);
}

/** A wait that ends early when a signal does, or when the shopper comes back to the page or the network returns. */
export function pause(ms, signal, wake = signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      wake.removeEventListener('abort', done);
      window.removeEventListener('online', done);
      window.removeEventListener('pageshow', done);
      document.removeEventListener('visibilitychange', seen);
      resolve();
    };
    const seen = () => document.visibilityState === 'visible' && done();
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    wake.addEventListener('abort', done);
    window.addEventListener('online', done);
    window.addEventListener('pageshow', done); // out of the back/forward cache
    document.addEventListener('visibilitychange', seen);
    if (signal.aborted || wake.aborted) done();
  });
}
