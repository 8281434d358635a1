// Sentences for those who answer, and what they typed.

/** A title, and a sentence that is true: what came of the answers, and what to do. */
export function whyOver(error, { outbox, waiting, counted }) {
  const unsent = outbox.length + (waiting ? 1 : 0);
  const kept = counted ? `${counted === 1 ? "The answer" : `The ${counted} answers`} that you sent ${counted === 1 ? "counts" : "count"}.` : "";
  const lost = unsent ? `${unsent === 1 ? "One answer" : `${unsent} answers`} on the way could not be sent any more.` : "";
  const [title, sentence] =
    error.status === 409
      ? ["This campaign does not go on", "Tell whoever invited you."]
      : error.status === 403
        ? ["You are no longer asked here", `${error.message[0].toUpperCase()}${error.message.slice(1)}.`]
        : ["This link no longer works", "A newer one has taken its place, or it has run out: ask whoever invited you."];
  return [title, [sentence, kept, lost].filter(Boolean).join(" ")];
}

/** The number that was typed, or a sentence that says what is wrong with it. */
export function readNumber(typed, { low, high }) {
  const within = low === undefined ? "" : ` from ${Number(low)} to ${Number(high)}`;
  const value = Number(typed.replace(",", "."));
  if (typed === "") return { wrong: `Type a number${within} first.` };
  if (!Number.isFinite(value)) return { wrong: `“${typed.slice(0, 30)}” is no number: type one${within || ", for example 3.5"}.` };
  if (within && (value < Number(low) || value > Number(high))) return { wrong: `The number must be${within}.` };
  return { value };
}

/** What the server has of this worker, and what is on its way. */
export const givenOf = ({ counted, outbox, waiting }) =>
  (counted || 0) + [...outbox, ...(waiting ? [waiting] : [])].filter((told) => !told.skip).length;

/** How far the campaign is. What the server counted is a moment old: the worker's own are among all. */
export function progressOf({ answers, sorted }, given) {
  if (answers === null) return "";
  const all = Math.max(answers, given || 0);
  const count = `${all.toLocaleString("en")} ${all === 1 ? "answer" : "answers"}`;
  return sorted ? `${sorted}, ${count}` : `${count} so far`;
}

/** An answer as it is said. */
export const spoken = (value) => (value === true ? "yes" : value === false ? "no" : String(value));

/** An answer as it is sent. */
export const valueOf = (text) => (text === "yes" ? true : text === "no" ? false : Number(text));
