// What is asked in between: why a question is skipped, what is wrong with an item, which keys
// there are. A sheet takes the keys for as long as it is open.

const $ = (id) => document.getElementById(id);

/** Open a sheet; ``chosen`` gets the reason that is picked, if one is. */
export function ask(id, chosen) {
  const sheet = $(id);
  if (sheet.open) return;
  sheet.onclick = (event) => {
    const button = event.target.closest("button");
    if (!button && event.target !== sheet) return; // beside the sheet: closed, too
    sheet.close();
    if (button && button.dataset.reason) chosen(button.dataset.reason);
  };
  sheet.showModal();
}

/** Whether a sheet is open; then it has seen to the key. */
export function keyed(event) {
  const sheet = document.querySelector("dialog[open]");
  if (!sheet) return false;
  const key = event.key.toLowerCase();
  const button = [...sheet.querySelectorAll("[data-keys]")].find((each) => takes(each, key));
  if (button) {
    event.preventDefault();
    button.click();
  } else if (key === "?") {
    sheet.close();
  }
  return true;
}

/** Whether a button has this key among its own. */
export const takes = (button, key) => button.dataset.keys.toLowerCase().split(" ").includes(key);

const guidePanel = $("guide");
const guideOpener = $("guide-open");
const guideCloser = $("guide-close");

/** On phones the guidelines are a sheet: the focus goes there, and comes back. */
export function guide(open) {
  if (!guidePanel || open === guidePanel.classList.contains("is-open")) return;
  guidePanel.classList.toggle("is-open", open);
  guideOpener.setAttribute("aria-expanded", String(open));
  (open ? guideCloser : guideOpener).focus();
}
guideOpener?.addEventListener("click", () => guide(true));
guideCloser?.addEventListener("click", () => guide(false));
