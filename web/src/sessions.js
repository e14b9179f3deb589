// Where the shopper is signed in, in the sheet that says who they are. It is loaded when they ask; what it needs comes
// in.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  sessions_here: ['{device}（当前）', '{device} (this one)'],
  sessions_unknown: ['未知设备', 'Unknown device'],
  sessions_times: ['{began} 登录，最近使用 {renewed}', 'Since {began}, last used {renewed}'],
  sessions_everywhere: ['退出所有设备', 'Sign out everywhere'],
  sessions_everywhere_text: ['所有设备都要重新登录，还没成交的订单请求会作废。', 'Every device has to sign in again, and orders that are still being placed are dropped.'],
};

/** Lists the shopper's sessions in a sheet; `left` forgets them here once all have ended. */
export async function sessionsIn(io, sheet, left) {
  const { TEXTS: all, el, put, t, when, announce, signIns, endSession } = io;
  Object.assign(all, TEXTS);
  const fault = el('p', { class: 'fault', role: 'alert' });
  const show = async () => {
    put(sheet.body, el('p', { class: 'soft center' }, t('loading')));
    try {
      put(sheet.body, listed(await signIns()));
      announce(t('who_sessions'));
    } catch (problem) {
      put(sheet.body, el('p', { class: 'fault', role: 'alert' }, why(problem)), problem.status !== 403 && el('button', { class: 'button', type: 'button', onclick: show }, t('retry')));
    }
  };
  // The server says 403 when this session has ended, too.
  const why = (problem) => t(problem.status === 403 ? 'signin_ended' : 'no_answer');
  const listed = (sessions) => [
    el('ul', { class: 'moneys' }, sessions.map(row)),
    el('p', { class: 'soft' }, t('sessions_everywhere_text')),
    fault,
    el('button', { class: 'button', type: 'button', onclick: everywhere }, t('sessions_everywhere')),
  ];
  const row = ({ device = t('sessions_unknown'), began_at: began, renewed_at: renewed, current }) =>
    el('li', {}, el('b', {}, current ? t('sessions_here', { device }) : device), el('span', { class: 'soft' }, t('sessions_times', { began: when(began), renewed: when(renewed) })));
  const everywhere = async ({ currentTarget: button }) => {
    button.disabled = true;
    put(fault, '');
    try {
      await endSession();
    } catch (problem) {
      button.disabled = false;
      return void put(fault, why(problem));
    }
    left();
  };
  sheet.title(t('who_sessions'));
  await show();
}
