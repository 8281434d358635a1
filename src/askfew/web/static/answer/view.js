// The page's parts, and how they show a question. Texts are set as text, never as HTML.

import { progressOf } from "./words.js";

const LONG_TEXT = 280;
const $ = (id) => document.getElementById(id);

export const page = {
  root: $("answer"),
  card: $("question-card"),
  rest: $("rest"),
  said: $("said"),
  skip: $("skip"),
  undo: $("undo"),
  flag: $("flag"),
  number: $("number"),
  send: document.querySelector("#number-form button"),
  choices: [...document.querySelectorAll("[data-value]")],
};

const itemBox = $("item-box");
const cue = $("more-below");

/** Say that a long text goes on, until its end has been seen. */
function cueMore() {
  const below = itemBox.scrollHeight - itemBox.clientHeight - itemBox.scrollTop;
  cue.hidden = below < 12;
  itemBox.classList.toggle("has-more", below >= 12);
}
itemBox.addEventListener("scroll", cueMore, { passive: true });
new ResizeObserver(cueMore).observe(itemBox);
cue.addEventListener("click", () => itemBox.scrollBy({ top: 0.8 * itemBox.clientHeight, behavior: "smooth" }));

let shown = null;
let asked = null; // which question was asked last, whatever the item
let focused = null; // the button in use when questions ran out

/** Show a question, or nothing if there is none. Says whether it is another one than before. */
export function show(question) {
  const id = question ? question.id : null;
  if (id === shown) return false;
  shown = id;
  page.card.hidden = !question;
  page.rest.hidden = Boolean(question);
  page.root.dataset.lease = id || "";
  const buttons = [...page.choices, page.send, page.skip, page.flag].filter(Boolean);
  if (!question) focused = buttons.find((each) => each === document.activeElement) || focused;
  for (const each of buttons) each.disabled = !question;
  if (page.number) {
    page.number.disabled = !question;
    page.number.value = "";
    numberIsWrong("");
  }
  if (!question) return true;
  // Switched off, a button loses its focus, and whoever tabs would begin anew.
  if (focused && document.activeElement === document.body) focused.focus();
  focused = null;
  const { item } = question;
  const text = item.text || (item.image ? "" : item.id);
  const picture = $("picture");
  $("figure").hidden = !item.image;
  if (item.image) {
    picture.src = imageAddress(item.image);
    picture.alt = item.text || `Picture ${item.id}`;
    $("caption").textContent = text;
  } else {
    picture.removeAttribute("src");
  }
  const words = $("item-text");
  words.hidden = Boolean(item.image);
  words.textContent = item.image ? "" : text;
  words.classList.toggle("answer-text-long", text.length > LONG_TEXT);
  itemBox.scrollTop = 0;
  cueMore();
  $("question-text").textContent = question.question.text;
  const cue = cueOf(question.question.id);
  // In one piece: the same question about another item is news, too.
  $("heard").textContent = `${cue ? `${cue}. ` : ""}${item.image ? picture.alt : text}: ${question.question.text}`;
  return true;
}

/** Say whether the question stays while the item changes: who knows reads only the item. */
function cueOf(id) {
  const cue = asked === null ? "" : asked === id ? "Same question" : "New question";
  asked = id;
  const place = $("question-cue");
  place.textContent = cue;
  place.hidden = !cue;
  place.classList.toggle("is-new", cue === "New question");
  return cue;
}

/** Have the picture of a later question at hand. */
export function prepare(question) {
  if (question.item.image) new Image().src = imageAddress(question.item.image);
}

export function rest(title, sentence) {
  $("rest-title").textContent = title;
  $("rest-text").textContent = sentence;
}

export function say(sentence, trouble = false) {
  if (page.said.textContent !== sentence) page.said.textContent = sentence;
  page.said.classList.toggle("is-trouble", trouble);
}

/** How far the campaign is, and how much this worker has given, on whatever device. */
export function showProgress(progress, given) {
  $("progress-fill").setAttribute("width", `${Math.round(progress.share * 1000) / 10}%`);
  $("progress-text").textContent = progressOf(progress, given);
  $("given").textContent = given === null ? "" : `you: ${given.toLocaleString("en")}`;
}

/** What is wrong with the number typed; nothing if it is right. */
export function numberIsWrong(sentence) {
  const place = $("number-wrong");
  place.textContent = sentence;
  place.hidden = !sentence;
  page.number.setAttribute("aria-invalid", String(Boolean(sentence)));
}

export function press(value) {
  const button = page.choices.find((each) => each.dataset.value === String(value));
  if (!button) return;
  button.classList.add("pressed");
  setTimeout(() => button.classList.remove("pressed"), 140);
}

const imageAddress = (hash) => `${page.root.dataset.api}/images/${hash}`;

/** Along a scale: the next button gets the focus, and Enter presses it. */
export function step(by) {
  const at = page.choices.indexOf(document.activeElement);
  const middle = Math.floor(page.choices.length / 2);
  page.choices.at(at < 0 ? middle : Math.min(Math.max(at + by, 0), page.choices.length - 1))?.focus();
}
