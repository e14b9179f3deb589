// Tickets for items with checks, got ahead: from 30 minutes before the start the page asks for the challenge, solves it in
// peace and answers it, so that at the opening one press is one request. It is loaded for such items only. What it needs
// comes in, so that the tests can lose answers at will; it imports nothing that app.js has.
import { TEXTS } from './admission-texts.js';
import { showJob } from './admission-view.js';

/** Tickets are given from this long before the start, ms. */
export const LEAD = 30 * 60_000;

/** A crowd whose pages are open then asks over this long, ms. */
export const SPREAD = 60_000;

const LOOK = 60_000; // ms between looks at the clock while it is early
const FRESH = 60_000; // ms before its end from which on a challenge is not answered any more
const AHEAD = 5 * 60_000; // ms before its end from which on a ticket is renewed, if the sale goes on longer

/**
 * @param {object} io
 * @param {(what: string, body: object) => Promise<object>} io.admit  POST /seckill/challenge or ticket; throws a Problem
 * @param {() => number} io.now  the server's clock
 * @param {() => number | undefined} io.knownNow
 * @param {(time: number, f: () => void) => () => void} io.at
 * @param {(f: () => void) => () => void} io.onSecond
 * @param {(ms: number, signal: AbortSignal) => Promise<void>} io.pause
 * @param {(attempt: number, retryAfter: number) => number} io.retryWait
 * @param {(problem: object) => string} io.decide
 * @param {() => object} io.shopper  and io.onShopper(f)
 * @param {() => object} io.tickets  what the tab keeps, {text, expires} by item; and io.keepTicket(item, ticket)
 * @param {object} io.TEXTS  gets the texts of this part; io.t and io.tOr give them
 */
export function admission(io) {
  return (io.door ||= make({ page: globalThis.document, random: Math.random, proof: () => import('./proof.js'), ...io }));
}

function make(io) {
  const jobs = new Map(); // by item
  const ticketOf = (item) => {
    const kept = io.tickets()[item];
    return kept && io.now() < kept.expires ? kept.text : undefined;
  };
  Object.assign(io.TEXTS, TEXTS);
  io.onShopper(() => {
    for (const job of jobs.values()) if (job.user !== io.shopper()?.user) job.end();
  });

  // A job that has ended begins again when the shopper looks at the item or wants a ticket.
  function jobOf(item, anew = true) {
    let job = jobs.get(item.id);
    if (!job || job.user !== io.shopper()?.user || (anew && job.over())) {
      job?.end();
      job = startJob(io, item, ticketOf);
      jobs.set(item.id, job);
    }
    job.moved(item);
    return job;
  }

  return {
    /** Begins to get the ticket, for who is signed in. */
    prepare(item) {
      if (io.shopper()) jobOf(item, false);
    },

    /** Shows in `node` how far it is, while it is in a document. */
    show(item, node) {
      if (node.isConnected) showJob(io, item, jobOf(item), node);
    },

    /**
     * The ticket, as soon as it is there: {ok, ticket}, where none is needed without one; else a problem, of status 422
     * when a question is to be answered first. `renewed` is how many tickets were refused at this press. `onWait(name,
     * until)` says what it waits for, as the name of a text.
     */
    ticket(item, signal, renewed, onWait) {
      if (renewed) io.keepTicket(item.id, null);
      const job = jobOf(item);
      const kept = ticketOf(item.id);
      if (kept) return Promise.resolve({ ok: true, ticket: kept }); // also while it is being renewed
      job.hurry();
      return new Promise((resolve) => {
        let waits;
        let unwatch = () => {};
        const done = (value) => {
          unwatch?.();
          unwatch = undefined;
          resolve(value);
        };
        const judge = ({ name, question, sent, until, problem }) => {
          const wait = until ? 'retrying' : 'ticket_getting';
          if (name === 'ready' || name === 'free') done({ ok: true, ticket: ticketOf(item.id) });
          else if (name === 'refused') done(problem);
          else if (question && !sent) done({ status: 422, detail: io.t('question_first') });
          else if (!signal.aborted && waits !== until + wait) onWait(wait, until, (waits = until + wait));
        };
        const stop = job.watch(judge);
        if (!unwatch) return stop(); // it knew at once
        unwatch = stop;
        signal.addEventListener('abort', () => done({}));
      });
    },
  };
}

// What a challenge asks besides the proof: {} for nothing.
const asks = ({ question, picture, alternative }) => (question ? { question } : { question: alternative, picture });

/**
 * One shopper's way to a ticket for one item. Its state is {name, question, picture, fault, sent, tried, until, problem};
 * where there is a picture, the question is what it asks, in words. Names:
 * later, asking, question (for its shopper to answer), solving, busy (again at `until`), ready, free (no ticket is
 * needed), refused.
 */
export function startJob(io, item, ticketOf) {
  const user = io.shopper()?.user;
  const left = new AbortController();
  const { signal } = left;
  const watchers = new Set();
  let state = { name: 'later' };
  let hurried = false;
  let solver;
  let give = () => {};
  let waking = new AbortController(); // ends the wait for a start that has moved
  let renewedFor; // the end of the sale, as it was when the ticket was renewed

  const set = (name, more = {}) => {
    if (signal.aborted) return;
    state = { ...more, name };
    for (const f of [...watchers]) f(state);
  };

  const hurry = () => {
    hurried = true;
    solver?.repace();
  };

  // Waits until then; false when the sale's start moved meanwhile.
  const until = async (time) => {
    const { start_time: start } = item;
    while (!signal.aborted && item.start_time === start && (io.knownNow() === undefined || io.now() < time)) {
      await io.pause(io.knownNow() === undefined ? 1000 : Math.min(LOOK, time - io.now()), signal, waking.signal);
    }
    return item.start_time === start;
  };

  const opening = () => {
    const opens = Date.parse(item.start_time) - LEAD;
    return until(io.now() < opens ? opens + io.random() * SPREAD : opens);
  };

  // An operator moved the sale: it may open earlier, or go on when the ticket has ended. One renewal for each end: who
  // gives tickets may not know the new one yet.
  function moved(next) {
    const before = item;
    item = next;
    if (item.start_time !== before.start_time) {
      waking.abort();
      waking = new AbortController();
    }
    const { expires } = io.tickets()[item.id] || {};
    if (state.name !== 'ready' || item.end_time === renewedFor || !(expires < Date.parse(item.end_time))) return;
    renewedFor = item.end_time;
    signal.addEventListener('abort', io.at(expires - AHEAD + io.random() * SPREAD, () => signal.aborted || run(true)));
  }

  async function solving(challenge) {
    const { solve, able, PAUSED, PEACE, HURRY } = await io.proof();
    if (!able()) throw { status: 400, code: 'insecure', detail: io.t('refused_insecure_text') };
    const pace = () => (hurried ? HURRY : io.page.visibilityState === 'hidden' ? PAUSED : PEACE);
    const tell = (tried) => state.name === 'solving' && set('solving', { ...state, tried });
    const work = solve(challenge.proof, { pace: pace(), tell });
    work.result.catch(() => {}); // whoever waits for it hears of it
    const repace = () => work.pace(pace());
    io.page.addEventListener('visibilitychange', repace, { signal });
    signal.addEventListener('abort', work.stop);
    return { ...work, repace };
  }

  // The shopper's answer; undefined when the challenge ends before there is one.
  const answered = (expires) =>
    new Promise((resolve) => {
      const stop = io.at(expires - FRESH, () => resolve(undefined));
      give = (text) => {
        stop();
        resolve(text);
      };
      signal.addEventListener('abort', () => give(undefined), { once: true });
    });

  async function run(anew = false) {
    if (ticketOf(item.id) && !anew) return set('ready');
    while (!(await opening()));
    let challenge;
    let question;
    let picture;
    let fault;
    let answer;
    let failures = 0;
    while (!signal.aborted) {
      try {
        if (!challenge || io.now() >= Date.parse(challenge.expires_at) - FRESH) {
          set('asking', { question, picture, sent: true });
          challenge = await io.admit('challenge', { seckill_id: item.id });
          if (asks(challenge).question !== question) answer = undefined;
          ({ question, picture } = asks(challenge));
          solver?.stop();
          solver = undefined;
        }
        if (signal.aborted) return;
        solver ||= await solving(challenge);
        if (question && answer === undefined) {
          set('question', { question, picture, fault });
          answer = await answered(Date.parse(challenge.expires_at));
          if (answer === undefined) continue;
          hurry(); // its shopper waits
        }
        set('solving', { question, picture, sent: true });
        const proof = await solver.result;
        if (signal.aborted) return;
        const got = await io.admit('ticket', { seckill_id: item.id, proof, answer });
        if (signal.aborted) return;
        io.keepTicket(item.id, { text: got.ticket, expires: Date.parse(got.expires_at) });
        return set('ready');
      } catch (problem) {
        if (signal.aborted) return;
        if (problem.code === 'no_checks') return set('free');
        if (problem.code === 'check_failed') {
          challenge = problem.challenge;
          ({ question, picture } = challenge ? asks(challenge) : { question });
          solver?.stop();
          solver = undefined;
          fault = question && 'question_wrong';
          if (question) {
            answer = undefined;
            continue;
          }
        } else if (problem.status === 425) {
          set('later');
          await until(Math.max(problem.startTime || 0, io.now() + io.retryWait(failures++, 0)));
          continue;
        } else if (io.decide(problem) !== 'retry') {
          return set('refused', { problem });
        }
        const ms = io.retryWait(failures++, problem.retryAfter);
        const many = problem.status === 429;
        if (many && question && answer !== undefined) {
          answer = undefined; // it was not judged; what was typed is still there
          fault = undefined;
        }
        const next = io.now() + ms;
        set('busy', { question, picture, sent: true, until: next, many });
        while (!signal.aborted && io.now() < next) await io.pause(next - io.now(), signal);
      }
    }
  }

  run();
  return {
    user,
    moved,
    answer: (text) => give(text),
    hurry,
    end: () => left.abort(),
    over: () => signal.aborted || state.name === 'refused' || ((state.name === 'ready' || state.name === 'free') && !ticketOf(item.id)),
    /** Tells f the state, now and whenever it is another one; the answer ends it. */
    watch(f) {
      watchers.add(f);
      f(state);
      return () => watchers.delete(f);
    },
  };
}
