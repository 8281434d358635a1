// The page's parts, and how they show a question. Texts are set as text, never as HTML.

const LONG_TEXT = 280;
const $ = (id) => document.getElementById(id);

export const page = {
  root: $("answer"),
  card: $("question-card"),
  rest: $("rest"),
  said: $("said"),
  skip: $("skip"),
  undo: $("undo"),
  number: $("number"),
  choices: [...document.querySelectorAll("[data-value]")],
};

let shown = null;
let focused = null; // the button in use when questions ran out

/** Show a question, or nothing if there is none. Says whether it is another one than before. */
export function show(question) {
  const id = question ? question.id : null;
  if (id === shown) return false;
  shown = id;
  page.card.hidden = !question;
  page.rest.hidden = Boolean(question);
  page.root.dataset.lease = id || "";
  const buttons = [...page.choices, page.skip];
  if (!question) focused = buttons.find((each) => each === document.activeElement) || focused;
  for (const each of buttons) each.disabled = !question;
  if (page.number) {
    page.number.disabled = !question;
    page.number.value = "";
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
  $("item-box").scrollTop = 0;
  $("question-text").textContent = question.question.text;
  // In one piece: the same question about another item is news, too.
  $("heard").textContent = `${item.image ? picture.alt : text}: ${question.question.text}`;
  return true;
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

/** How far the campaign is, and how much this worker has given. */
export function far(progress, given) {
  $("far-fill").setAttribute("width", `${Math.round(progress.share * 1000) / 10}%`);
  $("far-text").textContent = progress.text;
  $("given").textContent = `you: ${given}`;
}

export function press(value) {
  const button = page.choices.find((each) => each.dataset.value === String(value));
  if (!button) return;
  button.classList.add("pressed");
  setTimeout(() => button.classList.remove("pressed"), 140);
}

const imageAddress = (hash) => `${page.root.dataset.api}/images/${hash}`;
