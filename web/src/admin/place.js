// Addresses after #: "#/orders?item=2002&state=paid", "#/order/ID". The first word is the screen's name, the second what
// it is about; filters, sort and cursor are its query. So every place can be kept, sent to a colleague and reloaded.

/** Reads an address: {name, id, query}. */
export function readPlace(hash) {
  const [path, search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  let id = rest.join('/');
  try {
    id = decodeURIComponent(id);
  } catch {
    id = ''; // an address that was cut off
  }
  return { name, id, query: new URLSearchParams(search) };
}

/** Writes an address. The query is an object or URLSearchParams; empty values are left out. */
export function placeOf(name, id = '', query = {}) {
  const kept = [...new URLSearchParams(query)].filter(([, value]) => value !== '' && value !== 'undefined');
  const search = new URLSearchParams(kept).toString();
  return `#/${name}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}

/** A query with changes; undefined and '' drop a name. */
export function changed(query, changes) {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '' || value === false) next.delete(name);
    else next.set(name, value === true ? '1' : value);
  }
  return next;
}
