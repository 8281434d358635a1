// Buttons that copy what a field holds, or save it as a file.

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copies]");
  if (button) copy(document.getElementById(button.dataset.copies), button);
  const saver = event.target.closest("[data-saves]");
  if (saver) save(document.getElementById(saver.dataset.saves).value, saver.dataset.file);
});

async function copy(field, button) {
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    field.select(); // without TLS, browsers keep the clipboard to themselves
    document.execCommand("copy");
  }
  const word = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = word), 1500);
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
