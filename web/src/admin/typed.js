// What was typed and not sent yet, by form. It lies in the tab's sessionStorage, so that it outlives a reload and a
// sign-in that leads away from the page, and no tab. Somebody else who signs in does not get it.
const STORE = 'seckill.staff.typed';

let memory = {}; // stands in where storage is forbidden

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(STORE)) || {};
  } catch {
    return memory;
  }
}

function write(all) {
  memory = all;
  try {
    sessionStorage.setItem(STORE, JSON.stringify(all));
  } catch {
    return; // as long as the page, then
  }
}

/** From now on this person types: what somebody else typed is dropped. */
export function typedBy(who) {
  if (read().who !== who) write({ who, forms: {} });
}

/** What was typed into a form, {field: value}. */
export const typed = (form) => read().forms?.[form] || {};

/** Keeps what is typed into a form; null: it was sent, or is dropped. */
export function keep(form, values) {
  const all = read();
  all.forms = { ...all.forms, [form]: values || undefined };
  write(all);
}

/** Forgets everything: somebody signed out. */
export const forgetTyped = () => write({});
