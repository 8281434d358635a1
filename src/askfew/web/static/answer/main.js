// One worker at one campaign: shows questions, holds the newest answer back for an undo, sends
// answers until the server has them, keeps the next question ready.

import { listen } from "./input.js";
import { Keep } from "./keep.js";
import { Backoff, Refused, Unreachable, pause, post } from "./server.js";
import { ask } from "./sheets.js";
import { page, prepare, press, rest, say, show, showProgress } from "./view.js";
import { givenOf, spoken, whyOver } from "./words.js";

const HOLD_BACK = 3000; // milliseconds in which an undo never reaches the server
const IN_HAND = 2; // the question shown and the next one; the server may hand out fewer
const LOOK_AGAIN = [700, 1000, 1500, 2000, 3000];

const { api, next: nextAddress, campaign, worker, actsFor } = page.root.dataset;
const keep = new Keep(`askfew/${campaign}/${worker}`, changedElsewhere);

let progress = { share: 0, answers: null, sorted: "" };
let shownSince = Date.now();
let offline = false;
let over = false; // the server will not talk to us any more
let notice = "";

// ---------------------------------------------------------------- answering

function answer(value) {
  settle(value, { answer: value });
}

function skip() {
  const question = keep.read().held[0];
  ask("skip-dialog", (reason) => {
    if (keep.read().held[0]?.id === question.id) settle(null, { skip: reason });
  });
}

/** Tell the owner that something is wrong with the item; the question stays. */
function flag() {
  const { item } = keep.read().held[0];
  ask("flag-dialog", async (reason) => {
    try {
      await post(`${api}/flag`, { item: item.id, reason, worker: actsFor || null });
      notice = "Flagged: thank you";
    } catch (error) {
      if (trouble(error)) notice = "No connection: not flagged, try again";
    }
    draw();
  });
}

function settle(value, told) {
  const state = keep.read();
  const question = state.held[0];
  if (!question || over) return;
  const seconds = Math.round((Date.now() - shownSince) / 10) / 100;
  keep.change((now) => {
    if (now.waiting) now.outbox.push(now.waiting);
    now.held.shift();
    now.waiting = { id: question.id, question, seconds, at: Date.now(), tries: 0, ...told };
    now.last = null;
  });
  notice = told.skip ? `Skipped: ${told.skip}` : `Answered ${spoken(value)}`;
  press(value);
  draw();
  setTimeout(release, HOLD_BACK + 20);
  send();
  fetchMore();
}

/** Let go of the answer that was held back, once its time is over. */
function release() {
  const { waiting } = keep.read();
  if (!waiting || Date.now() - waiting.at < HOLD_BACK) return;
  keep.change((state) => {
    state.outbox.push(state.waiting);
    state.waiting = null;
  });
  send();
}

async function undo() {
  const state = keep.read();
  if (state.waiting) {
    back((now) => (now.waiting = null), state.waiting);
    return;
  }
  const unsent = state.outbox.at(-1);
  if (unsent && unsent.tries === 0) {
    back((now) => now.outbox.pop(), unsent);
    return;
  }
  if (unsent || !state.last) return;
  await takeBack(state.last);
}

function back(remove, told) {
  keep.change((state) => {
    remove(state);
    state.held.unshift(told.question);
  });
  notice = "Taken back: answer again";
  draw();
}

/** The answer has reached the server: it can be taken back until it has been used. */
async function takeBack(last) {
  notice = "Taking it back ...";
  draw();
  try {
    const receipt = await post(`${api}/retract`, { id: last.id, worker: actsFor || null });
    const again = receipt.lease && kept({ ...last.question, id: receipt.lease }, receipt.seconds);
    keep.change((state) => {
      state.last = null;
      if (!again) return;
      state.counted -= 1;
      // Nobody else is asked: this page answers again, or skips.
      state.held = [again, ...state.held.filter((each) => each.id !== again.id)];
    });
    notice = again ? "Taken back: answer again, or skip" : "That answer has been used and stays";
  } catch (error) {
    if (trouble(error)) notice = "No connection: not taken back, try again";
  }
  draw();
}

// ---------------------------------------------------------------- sending

let sending = false;
const sendingAgain = new Backoff();

/** Send what is in the outbox, in order, until the server has it. */
async function send() {
  if (sending || over) return;
  sending = true;
  try {
    for (let told = keep.read().outbox[0]; told; told = keep.read().outbox[0]) {
      keep.change((state) => mark(state.outbox, told.id));
      try {
        delivered(told, await deliver(told));
        sendingAgain.reset();
        reached();
      } catch (error) {
        if (trouble(error)) await pause(sendingAgain.next());
        else if (over) return;
        else drop(told.id, error.message);
      }
    }
  } finally {
    sending = false;
  }
  fetchMore();
}

const deliver = (told, leaving = false) =>
  told.skip
    ? post(`${api}/skip`, { id: told.id, reason: told.skip }, leaving)
    : post(`${api}/tell`, { id: told.id, answer: told.answer, seconds: told.seconds }, leaving);

function mark(outbox, id) {
  const told = outbox.find((each) => each.id === id);
  if (told) told.tries += 1;
}

function delivered(told, receipt) {
  keep.change((state) => {
    state.outbox = state.outbox.filter((each) => each.id !== told.id);
    if (!receipt.ok || told.skip) return;
    state.last = { id: told.id, question: told.question };
    state.counted += 1;
  });
  if (!receipt.ok) notice = receipt.message;
  draw();
}

function drop(id, sentence) {
  keep.change((state) => {
    state.outbox = state.outbox.filter((each) => each.id !== id);
  });
  notice = sentence;
  draw();
}

// ---------------------------------------------------------------- questions

let fetching = false;
let lookedInVain = 0;
let lookTimer = null;
let restedSince = null; // when the campaign was first seen to be over
const fetchingAgain = new Backoff();

/** Ask for questions if there is room for one more. */
async function fetchMore() {
  if (fetching || over) return;
  const { held, waiting, outbox, asking } = keep.read();
  if (held.length >= IN_HAND) return;
  fetching = true;
  clearTimeout(lookTimer);
  let wait = null;
  const answered = [...outbox, ...(waiting ? [waiting] : [])].map((each) => each.id);
  // If the page asked before and never heard, questions may be kept for it that it has not got.
  const inHand = { holding: held.map((each) => each.id), answered, lost: asking };
  keep.change((state) => (state.asking = true));
  try {
    const came = await post(nextAddress, inHand);
    fetchingAgain.reset();
    reached();
    progress = came.progress;
    take(came.questions, came.given);
    wait = came.state === "running" ? betweenLooks(came) : resting(came.state);
  } catch (error) {
    if (trouble(error)) wait = fetchingAgain.next();
  }
  fetching = false;
  if (wait !== null) lookTimer = setTimeout(fetchMore, wait);
  draw();
}

function take(questions, given) {
  keep.change((state) => {
    state.counted = given; // those of other devices, too
    const known = new Set(state.held.map((each) => each.id));
    state.asking = false;
    const fresh = questions.filter((each) => !known.has(each.id)).map((each) => kept(each, each.seconds));
    state.held.push(...fresh);
  });
  questions.forEach(prepare);
}

function betweenLooks({ questions, waiting }) {
  if (questions.length) lookedInVain = 0;
  if (keep.read().held.length >= IN_HAND) return null;
  if (waiting) rest("Nothing to answer just now", waiting);
  const wait = LOOK_AGAIN[Math.min(lookedInVain, LOOK_AGAIN.length - 1)];
  lookedInVain += 1;
  return wait;
}

function resting(state) {
  if (state === "paused") {
    rest("A short break", "The campaign is paused. This page goes on by itself when it resumes.");
    return 4000;
  }
  const { counted, outbox, waiting } = keep.change((now) => (now.held = []));
  const thanks = counted === 1 ? "Your answer has" : `Your ${counted} answers have`;
  rest("All done", `${counted ? `${thanks} been counted. ` : ""}Nothing is left to be asked. Thank you!`);
  // What is on its way may come too late, and figures of others may be a moment old: look again.
  const first = restedSince === null || outbox.length || waiting;
  restedSince ??= Date.now();
  return first ? 2000 : 15000;
}

// ---------------------------------------------------------------- leases

/** A question with the time until which it is kept for us. */
const kept = (question, seconds) => ({ ...question, seconds, until: Date.now() + seconds * 1000 });

/** A lease is renewed only after input: an idle page does not hold up a step. */
async function renew() {
  const { held } = keep.read();
  const due = held.filter((each) => each.until - Date.now() < (each.seconds * 1000) / 2);
  if (!due.length || over) return;
  for (const each of due) {
    try {
      const receipt = await post(`${api}/renew`, { id: each.id });
      keep.change((state) => {
        const mine = state.held.find((other) => other.id === each.id);
        if (mine && receipt.ok) Object.assign(mine, kept(mine, receipt.seconds));
        if (mine && !receipt.ok) state.held = state.held.filter((other) => other !== mine);
      });
      if (!receipt.ok) notice = "After the pause that question went to someone else";
    } catch (error) {
      trouble(error);
    }
  }
  draw();
  fetchMore();
}

let renewing = false;
let noticed = 0;

async function noticeInput() {
  if (renewing || Date.now() - noticed < 1000) return;
  noticed = Date.now();
  renewing = true;
  await renew();
  renewing = false;
}

/** Who closes the page keeps nobody waiting: what was answered is sent, the rest is handed back. */
function leave() {
  const { held, waiting, outbox } = keep.read();
  for (const told of [...outbox, ...(waiting ? [waiting] : [])].slice(0, 10)) deliver(told, true).catch(() => {});
  for (const each of held) post(`${api}/release`, { id: each.id }, true).catch(() => {});
  keep.change((state) => {
    if (state.waiting) state.outbox.push(state.waiting); // sent again if the page comes back: it counts once
    state.waiting = null;
    state.held = [];
  });
}

/** Another tab of this worker has answered, or was closed and has handed back what both showed. */
function changedElsewhere() {
  draw();
  if (!keep.read().held.length) fetchMore();
}

// ---------------------------------------------------------------- trouble

/** Whether it is worth trying again. */
function trouble(error) {
  if (error instanceof Unreachable) {
    offline = true;
    draw();
    return true;
  }
  if (!(error instanceof Refused)) throw error;
  if ([401, 403, 409].includes(error.status)) {
    over = true;
    notice = "";
    rest(...whyOver(error, keep.read()));
    keep.change((state) => (state.held = []));
    draw();
  }
  return false;
}

function reached() {
  offline = false;
}

// ---------------------------------------------------------------- drawing

function draw() {
  const state = keep.read();
  if (show(state.held[0] || null)) {
    shownSince = Date.now();
    if (state.held[0] && page.number && matchMedia("(pointer: fine)").matches) page.number.focus();
  }
  const unsent = state.outbox.length;
  page.undo.disabled = over || !(state.waiting || state.last || (unsent && state.outbox.at(-1).tries === 0));
  // What could not be sent any more is no answer that was given.
  showProgress(progress, over || state.counted === null ? state.counted : givenOf(state));
  const kept = unsent + (state.waiting ? 1 : 0);
  if (offline) say(kept ? `No connection: ${kept} kept, sent later` : "No connection: trying again", true);
  else say(notice);
}

// ---------------------------------------------------------------- input

listen({ answer, skip, undo, flag });
for (const kind of ["pointerdown", "pointermove", "wheel", "keydown"]) {
  document.addEventListener(kind, noticeInput, { passive: true });
}
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") fetchMore();
});
window.addEventListener("pagehide", leave);
window.addEventListener("pageshow", (event) => {
  if (event.persisted) fetchMore();
});

// ---------------------------------------------------------------- going on where it stopped

// What was in hand for too long has gone to others by now.
keep.change((state) => (state.held = state.held.filter((each) => each.until > Date.now())));
draw();
const { waiting } = keep.read();
if (waiting) setTimeout(release, Math.max(0, HOLD_BACK + 20 - (Date.now() - waiting.at)));
send();
fetchMore();
