// A person's own view of the study: values in, one report out, everything shown before it is sent.
// The report is kept in this browser before it is sent; a second click, or a second visit, sends the same bytes.

import { named, randomize, scaled } from "./randomizer.js";

const element = (id) => document.getElementById(id);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

// A value within its bounds as a number in [-1, 1]; the middle if it is none.
export function scale([low, high], text) {
  const value = typeof text === "number" ? text : text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(value)) return 0;
  const middle = 0.5 * low + 0.5 * high;
  const half = 0.5 * high - 0.5 * low;
  return Math.min(1, Math.max(-1, (Math.min(high, Math.max(low, value)) - middle) / half));
}

// The gradient of one record's loss in the columns in play, its score within the round's clip.
export function gradient(facts, state, features, response) {
  const x = facts.features.map((column, j) => scale(column.bounds, features[j]));
  if (facts.intercept) x.push(1);
  const y = scale(facts.response.bounds, response);
  const predictor = x.reduce((sum, value, j) => sum + value * state.coefficients[j], 0);
  let score;
  if (facts.family === "logistic") {
    const margin = y > 0 ? predictor : -predictor;
    const size = margin > 0 ? 0.5 * Math.exp(-margin) : 0.5;
    score = y > 0 ? -size : size;
  } else {
    score = Math.min(state.clip, Math.max(-state.clip, predictor - y));
  }
  return state.columns.map((j) => score * x[j]);
}

// The 33 bytes that are sent: version, beginning of the study's fingerprint, round, report.
export function messageBytes(fingerprint, round, report) {
  const bytes = new Uint8Array(33);
  bytes[0] = 1;
  bytes.set(unhex(fingerprint).slice(0, 8), 1);
  new DataView(bytes.buffer).setUint16(9, round, true);
  bytes.set(report, 11);
  return bytes;
}

async function get(path) {
  const response = await fetch(path, { cache: "no-store" });
  if (!response.ok) throw new Error(`the service answered ${response.status} to ${path}`);
  return response.json();
}

const say = (text) => { element("state").textContent = text; };

function cells(row) {
  const line = document.createElement("tr");
  for (const text of row) {
    const cell = document.createElement("td");
    cell.textContent = text;
    cell.className = "number";
    line.append(cell);
  }
  return line;
}

function show(message, rows) {
  element("made").hidden = false;
  element("bytes").textContent = message;
  element("numbers").replaceChildren(...rows.map(cells));
  element("explained").textContent =
    `${message.length / 2} bytes: the kind of message, the study, the round, a random seed and a number. ` +
    "Together they name one random direction, chosen a little more often when it lies near your gradient. " +
    "Nothing else leaves this page, except your enrolment token.";
  element("send").disabled = false;
}

async function start() {
  const { fingerprint, facts } = await get("/study");
  const key = `dpglm-report-${fingerprint}`;
  for (const id of ["name", "purpose", "participants"]) element(id).textContent = facts[id];
  document.title = facts.name;
  element("fingerprint").textContent = fingerprint;
  element("promise").textContent =
    `You spend epsilon = ${facts.shown.epsilon}, once: whatever your values are, any report is at most ` +
    `${facts.shown.factor}, or ${facts.shown.times}, times as likely as with any other values.`;
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) element("token").value = token;
  const columns = [...facts.features, facts.response];
  element("values").replaceChildren(...columns.map((column) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.inputMode = "decimal";
    input.name = column.name;
    label.append(`${column.name} (${column.bounds[0]} to ${column.bounds[1]}) `, input);
    return label;
  }));

  const kept = localStorage.getItem(key);
  if (kept) {
    // The values are not kept, so the table stays empty.
    show(kept, []);
    say("This browser has already made its report for this study. Sending repeats the same bytes.");
  }

  element("make").addEventListener("click", async () => {
    if (localStorage.getItem(key)) {
      say("This browser has already made its report for this study: a second one would spend more.");
      return;
    }
    const { round, phase, state, numbers } = await get("/round");
    if (phase !== "open" || !numbers) {
      say("No round is open now.");
      return;
    }
    // Epsilon is the study's own, whatever the service says about the round.
    const plan = { ...numbers, epsilon: facts.epsilon };
    const values = columns.map((column) => element("values").querySelector(`[name="${CSS.escape(column.name)}"]`).value);
    const vector = gradient(facts, state, values.slice(0, -1), values.at(-1));
    const report = randomize(plan, vector);
    const seen = named(plan, report.seed, report.index).map((u) => (u * plan.radius) / plan.gain);
    const clipped = scaled(vector, plan.radius).map((value) => value * plan.radius);
    const names = [...facts.features.map((column) => column.name), "(Intercept)"];
    const rows = state.columns.map((column, j) =>
      [names[column], clipped[j].toPrecision(4), (seen[j] - clipped[j]).toPrecision(4), seen[j].toPrecision(4)]);
    const message = hex(messageBytes(fingerprint, round, report.bytes));
    // Kept first: from here on this report is spent.
    localStorage.setItem(key, message);
    show(message, rows);
    say("Made, and kept in this browser. Nothing has been sent yet.");
  });

  element("send").addEventListener("click", async () => {
    const message = localStorage.getItem(key);
    say("Sending.");
    try {
      const response = await fetch("/report", {
        method: "POST",
        headers: { Authorization: `Bearer ${element("token").value.trim()}`, "Content-Type": "application/octet-stream" },
        body: unhex(message),
      });
      const answer = await response.json();
      say(`${answer.code}: ${answer.message}`);
    } catch {
      say("The service could not be reached. Send again later: the same bytes will be sent.");
    }
  });
}

if (document.getElementById("record")) start().catch((error) => say(`The study cannot be shown: ${error.message}`));
