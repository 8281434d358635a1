// What this page must not lose, kept in the browser: questions in hand, answers not sent yet.
// Two tabs of one worker share it, so that they show the same question.

const EMPTY = { held: [], waiting: null, outbox: [], last: null, counted: null, asking: false };

export class Keep {
  constructor(key, onChange) {
    this.key = key;
    this.memory = null; // where the browser keeps nothing (private windows), the page does
    window.addEventListener("storage", (event) => {
      if (event.key === key) onChange();
    });
  }

  read() {
    try {
      const text = window.localStorage.getItem(this.key);
      return { ...EMPTY, ...(text ? JSON.parse(text) : this.memory) };
    } catch {
      return { ...EMPTY, ...this.memory };
    }
  }

  /** Change the state in one go; returns it. */
  change(edit) {
    const state = this.read();
    edit(state);
    try {
      window.localStorage.setItem(this.key, JSON.stringify(state));
    } catch {
      this.memory = state;
    }
    return state;
  }
}
