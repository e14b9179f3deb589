// What a shopper sees of the way to a ticket: one line, how far it is, and the question if there is one. Steps and seconds
// are in no live region: they change all the time.

const SECOND = 1000; // ms

const LINES = { later: 'ticket_later', asking: 'ticket_getting', solving: 'ticket_getting', question: 'question_ask' };

/** Shows a job in `node`, while that is in a document. */
export function showJob(io, item, job, node) {
  const { el, put, setText, t } = io;
  const line = el('p', { role: 'status', tabindex: -1 });
  const count = el('p', { class: 'soft center small' });
  const label = el('label', { class: 'summary-title', for: 'answer' });
  const picture = el('img', {});
  const inWords = el('details', {}, el('summary', {}, t('sum_words')), el('p', { id: 'answer-words' }));
  const field = el('input', { id: 'answer', type: 'text', autocomplete: 'off', maxlength: 100, 'aria-describedby': 'answer-words answer-fault' });
  const fault = el('p', { class: 'fault', id: 'answer-fault', role: 'alert' });
  const send = el('button', { class: 'button plain', type: 'submit' }, t('question_send'));
  const form = el('form', { class: 'purchase', novalidate: true, hidden: true, onsubmit: submit }, picture, inWords, label, el('div', { class: 'field' }, field, fault), send);
  let state;
  let asked = '';

  function submit(event) {
    event.preventDefault();
    if (state.name !== 'question') return;
    const text = field.value.trim();
    if (text) return job.answer(text);
    blame('question_empty');
    field.focus();
  }

  function blame(name) {
    setText(fault, name ? t(name) : '');
    if (name) field.setAttribute('aria-invalid', 'true');
    else field.removeAttribute('aria-invalid');
  }

  const words = () => {
    const { name, problem, until, question, many } = state;
    const n = Math.max(0, Math.ceil((until - io.now()) / SECOND));
    if (name === 'ready') return [t(io.now() < Date.parse(item.start_time) ? 'ticket_ready_early' : 'ticket_ready'), '', 'ready'];
    if (name === 'refused') return [problem.detail || io.tOr(`refused_${problem.code}`, t('refused')), '', 'fault center'];
    if (name === 'busy' && question && many) return [t('question_ask'), t('question_wait', { n }), 'soft center'];
    if (name === 'busy') return [t(many ? 'ticket_many' : 'ticket_busy'), t('ticket_again', { n }), 'soft center'];
    const steps = name === 'solving' && state.tried ? t('ticket_steps', { n: state.tried.toLocaleString() }) : '';
    return [LINES[name] ? t(LINES[name]) : '', steps, 'soft center'];
  };

  function draw() {
    const [text, counting, look] = words();
    setText(line, text);
    line.className = look;
    setText(count, counting);
    count.hidden = !counting;
  }

  // Shows a question, or a sum as a picture. Words say the sum, too: read out with the field, and shown on request.
  function show(question, sum) {
    setText(label, sum ? t('question_sum') : question);
    picture.hidden = inWords.hidden = !sum;
    if (sum) picture.src = sum;
    picture.alt = sum ? question : '';
    setText(inWords.lastChild, sum ? question : '');
  }

  function see(next) {
    const focused = form.contains(document.activeElement);
    state = next;
    const { name, question } = state;
    if (question && question !== asked) {
      show(question, state.picture);
      if (asked) field.value = '';
      asked = question;
    }
    if (name === 'question') blame(state.fault);
    else if (name === 'busy' && question && state.many) blame('question_many');
    else if (name === 'solving') blame();
    form.hidden = !question;
    form.toggleAttribute('data-open', name === 'question' || (name === 'busy' && Boolean(question)));
    send.setAttribute('aria-disabled', String(name !== 'question'));
    draw();
    if (focused && form.hidden) line.focus();
    else if (focused && state.fault) field.focus();
  }

  node.className = 'purchase';
  put(node, line, form, count);
  const stops = [job.watch(see)];
  const tick = () => (node.isConnected ? draw() : stops.forEach((stop) => stop()));
  stops.push(io.at(Date.parse(item.start_time), tick));
  stops.push(io.onSecond(tick));
}
