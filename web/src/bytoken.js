// Signing in without an issuer: as one of the people of a system on one machine, or by a pasted token. It is loaded when
// somebody does; what it needs comes in.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  who_demo: ['演示用户（仅本机）', 'Demo shoppers (this machine only)'],
  who_token: ['或粘贴访问令牌', 'Or paste an access token'],
  who_token_only: ['粘贴访问令牌', 'Paste an access token'],
  who_token_bad: ['这不像一个访问令牌。', 'This does not look like an access token.'],
  who_use: ['使用', 'Use it'],
  who_note: ['只保存在本标签页，关闭即失效。', 'Kept in this tab only, and gone when it closes.'],
};

/** Fills a sheet's body with the people and the form; `choose(who)` takes a shopper. */
export async function byToken(io, sheet, choose) {
  Object.assign(io.TEXTS, TEXTS);
  const demo = await io.demoShoppers();
  io.put(sheet.body, demo.length > 0 && demoList(io, demo, choose), tokenForm(io, demo.length > 0, choose));
}

function demoList({ el, t, shopper }, demo, choose) {
  const current = shopper()?.user;
  return [
    el('h3', {}, t('who_demo')),
    el(
      'div',
      { class: 'people' },
      demo.map((who) =>
        el(
          'button',
          { class: 'person', type: 'button', 'aria-pressed': String(who.user === current), onclick: () => choose(who) },
          el('span', { class: 'avatar', 'aria-hidden': 'true' }, [...(who.name || '?')].at(-1)),
          el('span', {}, who.name),
          el('small', {}, who.user),
        ),
      ),
    ),
  ];
}

// The shop's own token is taken as it is; an issuer's token is exchanged.
function tokenForm({ el, put, t, tokenUser, exchange, shopperOf }, besides, choose) {
  const fault = el('p', { class: 'fault', id: 'token-fault', role: 'alert' });
  const field = el('textarea', { id: 'token', rows: 3, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'token-fault' });
  const submit = async (event) => {
    event.preventDefault();
    put(fault, '');
    const token = field.value.trim();
    const user = tokenUser(token);
    if (user) return choose({ name: t('who_user', { user: `…${user.slice(-4)}` }), user, token });
    if (token.split('.').length !== 3) return void put(fault, t('who_token_bad'));
    try {
      choose(shopperOf(await exchange({ grant: 'token', token })));
    } catch (problem) {
      put(fault, t(problem.status === 401 ? 'signin_refused_text' : problem.status === 422 ? 'who_token_bad' : 'signin_away_text'));
    }
  };
  return el(
    'form',
    { class: 'token', onsubmit: submit },
    el('label', { for: 'token' }, t(besides ? 'who_token' : 'who_token_only')),
    field,
    fault,
    el('p', { class: 'soft' }, t('who_note')),
    el('button', { class: 'button', type: 'submit' }, t('who_use')),
  );
}
