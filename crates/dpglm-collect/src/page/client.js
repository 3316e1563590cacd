// A person's own view of the study: values in, one report out, everything shown before it is sent.
// A report that was made and not sent has been seen by nobody: it may be made again. From its first sending on it is spent, and a
// second click, tab or visit sends the same bytes.

import * as ledger from "./ledger.js";
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

// A number above `value` with three digits: a promise is never rounded down.
export function rounded_up(value) {
  const exponent = Math.floor(Math.log10(value)) - 2;
  const whole = Math.ceil(exponent < 0 ? value * 10 ** -exponent : value / 10 ** exponent);
  return Number(`${whole}e${exponent}`);
}

// Whether the curator whose key came with the link has signed these facts. Throws if the signature is another's.
export async function verify(key, facts, signature) {
  if (!key) return false;
  if (!/^[0-9a-fA-F]{64}$/.test(key)) throw new Error("the key in the link is not 64 hexadecimal digits");
  if (!signature) throw new Error("the study is not signed for this page");
  const bytes = new TextEncoder().encode(`dpglm study page v1\n${facts}`);
  const imported = await crypto.subtle.importKey("raw", unhex(key.toLowerCase()), { name: "Ed25519" }, false, ["verify"]);
  if (await crypto.subtle.verify({ name: "Ed25519" }, imported, unhex(signature), bytes)) return true;
  throw new Error("the curator has not signed this study: do not answer it");
}

function total(facts) {
  const spent = ledger.spent();
  const own = ledger.sent(facts) ? "this study among them" : `${ledger.with_one_more(facts.epsilon)} with this study`;
  element("total").textContent = `This browser has spent epsilon ${spent} in all studies of this site, ${own}.`;
}

async function start() {
  const { facts: text, page_signature: signature } = await get("/study");
  const link = new URLSearchParams(location.hash.slice(1));
  const verified = await verify(link.get("key"), text, signature);
  const facts = JSON.parse(text);
  const { fingerprint, epsilon } = facts;
  if (facts.service.length > 0 && !facts.service.includes(location.origin)) {
    throw new Error(`it is answered at ${facts.service.join(" or ")}, not here`);
  }
  if (facts.expires !== null && Date.now() / 1000 >= facts.expires) throw new Error("it has expired");
  for (const id of ["name", "purpose", "participants"]) element(id).textContent = facts[id];
  document.title = facts.name;
  element("fingerprint").textContent = fingerprint;
  element("signature").textContent = verified
    ? "Signed by the curator whose key came with your link."
    : "The link held no key of the curator, so nobody has checked who asks.";
  element("signature").className = verified ? "" : "problem";
  element("promise").textContent =
    `You spend epsilon = ${epsilon}, once: whatever your values are, any report is at most ` +
    `e^${epsilon}, or ${rounded_up(Math.exp(epsilon) * (1 + 1e-14))}, times as likely as with any other values.`;
  if (link.get("token")) element("token").value = link.get("token");
  if (!Number.isNaN(ledger.limit())) element("limit").value = ledger.limit();
  const columns = [...facts.features, facts.response];
  element("values").replaceChildren(...columns.map((column) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.inputMode = "decimal";
    input.name = column.name;
    label.append(`${column.name} (${column.bounds[0]} to ${column.bounds[1]}) `, input);
    return label;
  }));
  const authorization = () => ({ Authorization: `Bearer ${element("token").value.trim()}` });

  // The report that was made here and not sent, and until when its place is held.
  let draft = null;
  const kept = ledger.sent(facts);
  if (kept) {
    // The values are not kept, so the table stays empty.
    show(kept, []);
    say("This browser has already sent its report for this study. Sending repeats the same bytes.");
  }
  total(facts);

  async function make() {
    ledger.set_limit(element("limit").value);
    if (ledger.sent(facts)) {
      say("This browser has already sent its report for this study: a second one would spend more.");
      return;
    }
    if (!(ledger.with_one_more(epsilon) <= ledger.limit())) {
      say(`With this study this browser would have spent epsilon ${ledger.with_one_more(epsilon)} in all, above your limit of ` +
        `${ledger.limit()}. Nothing was made.`);
      return;
    }
    // A place first: without one nothing is made.
    const response = await fetch("/reserve", { method: "POST", headers: authorization() });
    const place = await response.json();
    if (place.code !== "reserved" || !place.numbers) {
      const when = place.code === "wait" ? ` Your round is number ${place.round}; try again in ${place.seconds} seconds or later.` : "";
      say(`${place.code}: ${place.message}.${when}`);
      return;
    }
    const { round, state, seconds } = place;
    // Epsilon is the study's own, whatever the service says about the round.
    const plan = { ...place.numbers, epsilon };
    const values = columns.map((column) => element("values").querySelector(`[name="${CSS.escape(column.name)}"]`).value);
    const vector = gradient(facts, state, values.slice(0, -1), values.at(-1));
    const report = randomize(plan, vector);
    const seen = named(plan, report.seed, report.index).map((u) => (u * plan.radius) / plan.gain);
    const clipped = scaled(vector, plan.radius).map((value) => value * plan.radius);
    const names = [...facts.features.map((column) => column.name), "(Intercept)"];
    const rows = state.columns.map((column, j) =>
      [names[column], clipped[j].toPrecision(4), (seen[j] - clipped[j]).toPrecision(4), seen[j].toPrecision(4)]);
    draft = { message: hex(messageBytes(fingerprint, round, report.bytes)), until: performance.now() + 1000 * seconds };
    show(draft.message, rows);
    say(`Made. Nothing has been sent and nothing is spent. Your place in round ${round} is held for ${Math.round(seconds / 60)} minutes.`);
  }

  async function send() {
    // Asked again under the lock: another tab may have sent meanwhile.
    if (!ledger.sent(facts) && (!draft || performance.now() > draft.until)) {
      draft = null;
      say("Your place is no longer held. Nothing was sent and nothing is spent: make the report again.");
      return;
    }
    // From here on it is spent.
    const message = ledger.spend(facts, draft?.message);
    draft = null;
    element("bytes").textContent = message;
    total(facts);
    say("Sending.");
    try {
      const response = await fetch("/report", {
        method: "POST",
        headers: { ...authorization(), "Content-Type": "application/octet-stream" },
        body: unhex(message),
      });
      const answer = await response.json();
      say(`${answer.code}: ${answer.message}`);
    } catch {
      say("The service could not be reached. Send again later: the same bytes will be sent.");
    }
  }

  // One at a time, in this tab by its buttons and among all tabs by the lock.
  const guarded = (work) => async () => {
    const buttons = [element("make"), element("send")].filter((button) => !button.disabled);
    buttons.forEach((button) => { button.disabled = true; });
    try {
      await ledger.alone(work);
    } catch (error) {
      say(error.message);
    } finally {
      buttons.forEach((button) => { button.disabled = false; });
    }
  };
  element("make").addEventListener("click", guarded(make));
  element("send").addEventListener("click", guarded(send));
}

if (document.getElementById("record")) start().catch((error) => say(`The study cannot be answered: ${error.message}`));
