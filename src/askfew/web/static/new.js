// The form of a new campaign: what belongs to the chosen kind of answer, sentences beside their
// fields, and a preview that says when it no longer fits the form. Files stay chosen: htmx sends
// the form without leaving the page.

const form = document.getElementById("new-form");
const preview = document.getElementById("preview");

function showKind() {
  const kind = form.elements.answers.value;
  for (const part of form.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== kind;
}

function clearWrongs() {
  for (const place of form.querySelectorAll("[data-wrong]")) {
    place.hidden = true;
    place.textContent = "";
  }
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
}

/** Say what is wrong beside its field, too. */
function placeWrongs() {
  clearWrongs();
  for (const line of preview.querySelectorAll("[data-about]")) {
    const name = line.dataset.about;
    const place = form.querySelector(`[data-wrong="${name}"]`);
    if (!place) continue;
    place.hidden = false;
    place.textContent = line.textContent;
    place.closest("details")?.setAttribute("open", "");
    for (const field of form.querySelectorAll(`[data-field="${name}"]`)) {
      if (field.type === "radio") continue;
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-errormessage", place.id);
    }
  }
}

function formChanged(event) {
  if (event.target.name === "answers") showKind();
  const checked = document.getElementById("checked");
  if (checked) {
    checked.hidden = true;
    document.getElementById("stale").hidden = false;
  }
}

form.addEventListener("input", formChanged);
form.addEventListener("change", formChanged);
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target === preview) placeWrongs();
});
document.addEventListener("htmx:responseError", (event) => {
  tell(event.detail.xhr.status === 413 ? "The files are too large together: at most 100 MB." : "The server could not do it. Try again.");
});
document.addEventListener("htmx:sendError", () => tell("No connection to the server. Nothing is lost: try again."));

function tell(sentence) {
  const note = document.createElement("p");
  note.className = "note note-bad";
  note.setAttribute("role", "alert");
  note.textContent = sentence;
  preview.replaceChildren(note);
}

showKind();
