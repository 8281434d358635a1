// Buttons and keys: what a worker does, whichever way.

import { ask, guide, keyed, takes } from "./sheets.js";
import { numberIsWrong, page, step } from "./view.js";
import { readNumber, valueOf } from "./words.js";

/** Call these when somebody answers, skips, takes back or flags. */
export function listen({ answer, skip, undo, flag }) {
  for (const button of page.choices) {
    button.addEventListener("click", () => answer(valueOf(button.dataset.value)));
  }
  page.skip.addEventListener("click", skip);
  page.undo.addEventListener("click", undo);
  page.flag.addEventListener("click", flag);
  page.number?.addEventListener("input", () => numberIsWrong(""));
  document.getElementById("keys-open").addEventListener("click", () => ask("keys-dialog"));
  document.getElementById("number-form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const { value, wrong } = readNumber(page.number.value.trim(), page.number.dataset);
    if (wrong) numberIsWrong(wrong);
    else answer(value);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (keyed(event)) return;
    const key = event.key.toLowerCase();
    const typing = event.target === page.number;
    const button = page.choices.find((each) => takes(each, key));
    if (button && !button.disabled) answer(valueOf(button.dataset.value));
    else if (key === "escape") guide(false);
    else if (typing) return;
    else if (key === "s" && !page.skip.disabled) skip();
    else if (key === "z" && !page.undo.disabled) undo();
    else if (key === "f" && !page.flag.disabled) flag();
    else if (key === "?") ask("keys-dialog");
    else if (key === "arrowleft" || key === "arrowright") step(key === "arrowright" ? 1 : -1);
    else return;
    event.preventDefault();
  });
}
