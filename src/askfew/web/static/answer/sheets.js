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
