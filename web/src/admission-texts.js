// The texts of admission.js, so that nobody waits for them whose item has no checks.

// name: [Chinese, English]; {x} is filled in.
export const TEXTS = {
  ticket_later: ['开抢前 30 分钟起，本页会自动为您领取购买凭证。', 'From 30 minutes before it opens, this page gets your ticket by itself.'],
  ticket_getting: ['正在准备您的购买凭证…', 'Getting your ticket ready…'],
  ticket_getting_text: ['准备好后自动提交订单，请稍候。', 'Your order is sent as soon as it is ready. One moment.'],
  ticket_steps: ['已计算 {n} 次，一般需要几秒钟。', '{n} steps done. It takes seconds as a rule.'],
  ticket_ready: ['已就绪：按一下即可下单。', 'Ready: one press buys.'],
  ticket_ready_early: ['您的购买凭证已就绪。', 'Your ticket is ready.'],
  ticket_busy: ['暂时没有得到答复，稍后自动重试。', 'No answer just now. It is tried again by itself.'],
  ticket_many: ['请求太频繁，稍后自动重试。', 'Too many requests. It is tried again by itself.'],
  ticket_again: ['{n} 秒后重试。', 'Next try in {n} s.'],
  question_ask: ['回答问题后，就能得到购买凭证。', 'Answer the question to get your ticket.'],
  question_send: ['提交答案', 'Send the answer'],
  question_empty: ['请填写答案。', 'Please type an answer.'],
  question_wrong: ['答案不对，请再试一次。', 'That was not right. Please try again.'],
  question_many: ['答得太多了，请稍后再答。', 'Too many answers. Please wait a little.'],
  question_wait: ['{n} 秒后可以再答。', 'You can answer again in {n} s.'],
  question_first: ['请先回答上面的问题。', 'Please answer the question first.'],
  refused_account_new: ['账号注册时间太短', 'Your account is too new'],
  refused_blocked: ['您不能购买', 'You cannot buy'],
  refused_insecure: ['这里无法购买', 'Nobody can buy here'],
  refused_insecure_text: ['购买凭证需要以 https 开头的地址。', 'Getting a ticket needs an address that begins with https.'],
};
