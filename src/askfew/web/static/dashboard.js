// The dashboard's charts and dialogs. htmx renews the rest.

import "./copy.js";

const EVERY = 3000;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const $ = (id) => document.getElementById(id);
const box = document.querySelector("[data-charts]");

let seen = "";
let latest = null;
const plots = { answers: null, evidence: null };

// ---------------------------------------------------------------- charts

async function renew() {
  try {
    const response = await fetch(`${box.dataset.charts}?seen=${seen}`, { redirect: "error" });
    if (response.status === 200) {
      latest = await response.json();
      seen = latest.version;
      draw();
    }
  } catch {
    // The server is away: the next time will do.
  }
}

function draw() {
  if (!latest) return;
  drawAnswers(latest.answers);
  drawEvidence(latest.evidence);
}

function place(name, options, data) {
  const parent = $(`chart-${name}`);
  $(`chart-${name}-empty`).hidden = true;
  const size = { width: parent.clientWidth, height: parent.clientHeight };
  if (plots[name]) plots[name].destroy();
  plots[name] = new uPlot({ ...size, ...look(), ...options }, data, parent);
}

const look = () => ({
  legend: { show: false },
  cursor: { show: false },
  padding: [8, 30, 0, 0],
});

const axis = (more) => ({
  stroke: css("--soft"),
  font: `12px ${css("--font")}`,
  grid: { stroke: css("--line"), width: 1 },
  ticks: { show: false },
  ...more,
});

const whole = (_, values) => values.map((value) => (Number.isInteger(value) ? value.toLocaleString("en") : ""));
const room = (_, values) => Math.max(34, 12 + 7 * Math.max(0, ...(values || []).map((text) => text.length)));

function drawAnswers({ times, counts }) {
  if (counts.length < 2) return;
  const options = {
    scales: { x: { time: true }, y: { range: (_, low, high) => [0, Math.max(high * 1.08, 5)] } },
    axes: [axis({ space: 80, size: 28, values: clock(times) }), axis({ size: room, values: whole })],
    series: [{}, { stroke: css("--accent"), width: 2, fill: css("--accent-tint"), points: { show: false } }],
  };
  place("answers", options, [times, counts]);
  $("pace").textContent = pace(times, counts);
}

/** The hour for short campaigns, the day for long ones. */
function clock(times) {
  const days = (times.at(-1) - times[0]) / 86400;
  const form =
    days > 2
      ? { day: "numeric", month: "short" }
      : { hour: "2-digit", minute: "2-digit", ...(days < 1 / 96 ? { second: "2-digit" } : {}) };
  const write = new Intl.DateTimeFormat("en-GB", form);
  return (_, values) => values.map((value) => write.format(value * 1000));
}

function pace(times, counts) {
  const since = times.at(-1) - Math.min(600, times.at(-1) - times[0]);
  const first = times.findIndex((time) => time >= since);
  const minutes = (times.at(-1) - times[first]) / 60;
  const rate = minutes > 0 ? (counts.at(-1) - counts[first]) / minutes : 0;
  return rate >= 1 ? `${Math.round(rate).toLocaleString("en")} a minute lately` : "";
}

function drawEvidence(evidence) {
  if (!evidence || !evidence.values.length) return;
  const { values, decided, threshold, items } = evidence;
  const ranks = values.map((_, n) => (values.length > 1 ? (n * (items - 1)) / (values.length - 1) : 0) + 1);
  const sure = values.map((value, n) => (decided[n] ? value : null));
  const open = values.map((value, n) => (decided[n] ? null : value));
  const bars = uPlot.paths.bars({ size: [0.7, 40], align: 0 });
  const most = Math.max(threshold || 0, ...values);
  const options = {
    scales: { x: { time: false, range: [0.4, items + 0.6] }, y: { range: [0, most * 1.12 || 1] } },
    axes: [axis({ values: whole, space: 60, size: 28 }), axis({ size: room })],
    series: [
      {},
      { fill: css("--accent"), stroke: css("--accent"), width: 0, paths: bars, points: { show: false } },
      { fill: css("--line-strong"), stroke: css("--line-strong"), width: 0, paths: bars, points: { show: false } },
      { stroke: css("--ink"), width: 1.5, dash: [5, 4], points: { show: false } },
    ],
  };
  place("evidence", options, [ranks, sure, open, ranks.map(() => threshold)]);
  const reached = decided.filter(Boolean).length;
  $("evidence-note").textContent =
    threshold === null ? "sorted" : `sorted; dashed: the ${threshold.toFixed(1)} nats a label needs`;
  box.dataset.reached = reached;
}

if (box) {
  renew();
  setInterval(() => document.visibilityState === "visible" && renew(), EVERY);
  new ResizeObserver(draw).observe(box);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

// ---------------------------------------------------------------- dialogs and buttons

document.addEventListener("click", (event) => {
  const button = event.target.closest("button, a");
  if (!button) return;
  const { opens, revoke, focuses } = button.dataset;
  if (opens) {
    const dialog = $(opens);
    if (revoke !== undefined) {
      dialog.querySelector("[data-worker-name]").textContent = revoke;
      dialog.querySelector('[name="worker"]').value = revoke;
    }
    dialog.showModal();
  }
  if ("unfolds" in button.dataset) document.body.classList.add("unfolded");
  if ("revokes" in button.dataset) $("revoke-form").dispatchEvent(new Event("revoke"));
  if ("endsDialog" in button.dataset) button.closest("dialog").close();
  if (focuses) {
    event.preventDefault();
    $(focuses).scrollIntoView({ block: "center" });
    $(focuses).focus({ preventScroll: true });
  }
});

// The groups renew themselves, but not under the hands of somebody who types a name.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig } = event.detail;
  const renews = requestConfig.elt.id === "groups" && requestConfig.verb === "get";
  if (renews && document.querySelector(".rename[open]")) event.detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "item-body" && !$("item-dialog").open) $("item-dialog").showModal();
});

// Who wants to rename a group types at once. (Toggle events do not bubble.)
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target.matches(".rename[open]")) target.querySelector("input[name=called]").select();
  },
  true,
);
