// Requests to the server: what came back, or why not.

/** The server cannot be reached just now, or is busy: try again later. */
export class Unreachable extends Error {}

/** The server says no, and will say no again. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const PATIENCE = 15000;

/** ``leaving``: the page is being closed, and the request outlives it. */
export async function post(address, body, leaving = false) {
  const token = document.querySelector('meta[name="csrf"]').content;
  let response;
  try {
    response = await fetch(address, {
      method: "POST",
      credentials: "same-origin",
      redirect: "manual",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": token },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
      keepalive: leaving,
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 500 || response.status === 429 || response.status === 408) {
    throw new Unreachable();
  }
  if (response.type === "opaqueredirect") throw new Refused(401, "log in again");
  const text = await response.text().catch(() => null);
  if (text === null) throw new Unreachable();
  if (!response.ok) throw new Refused(response.status, sentenceOf(text));
  return text ? JSON.parse(text) : null;
}

function sentenceOf(text) {
  try {
    return JSON.parse(text).detail;
  } catch {
    return text;
  }
}

/** Waits that grow, so that a server that comes back is not run over. */
export class Backoff {
  constructor(first = 400, most = 4000) {
    this.first = first;
    this.most = most;
    this.tries = 0;
  }

  reset() {
    this.tries = 0;
  }

  next() {
    const wait = Math.min(this.first * 2 ** this.tries, this.most);
    this.tries += 1;
    return wait * (0.75 + Math.random() / 2);
  }
}

export const pause = (milliseconds) =>
  new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    }
    window.addEventListener("online", done);
  });
