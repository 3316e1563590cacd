// What this browser has spent, in all studies of this site, and the reports it was spent on.
// A report counts as spent from the moment before its first byte leaves. One lock for all tabs stands around every look and change.

const LEDGER = "dpglm-ledger";
const LIMIT = "dpglm-limit";
// An earlier page kept its report under this name and did not write down what it cost.
const EARLIER = "dpglm-report-";
// The most that a study may ask for: what an earlier report whose study is not known counts as.
const LARGEST = 20;

// Runs `work` while no other tab or click does. Without locks (an insecure page) nothing is done at all.
export function alone(work) {
  if (!globalThis.navigator?.locks) throw new Error("this page needs https to keep one report apart from another: nothing was made");
  return navigator.locks.request(LEDGER, work);
}

function entries() {
  const kept = JSON.parse(localStorage.getItem(LEDGER) ?? "[]");
  if (!Array.isArray(kept) || !kept.every((entry) => entry.epsilon > 0 && /^[0-9a-f]{66}$/.test(entry.message))) {
    throw new Error("what this browser has spent cannot be read: nothing was made");
  }
  return kept;
}

// The report sent for a study, or undefined.
export function sent({ fingerprint, epsilon, name }) {
  const earlier = localStorage.getItem(EARLIER + fingerprint);
  if (earlier && !entries().some((entry) => entry.fingerprint === fingerprint)) {
    localStorage.setItem(LEDGER, JSON.stringify([...entries(), { fingerprint, name, epsilon, message: earlier }]));
  }
  return entries().find((entry) => entry.fingerprint === fingerprint)?.message;
}

// The next number above, for sums that are not exact: rounding never hides a loss.
function added(sum, epsilon) {
  const next = sum + epsilon;
  return next - sum === epsilon && next - epsilon === sum ? next : next * (1 + 2 ** -52);
}

// What was spent in all, rounded upward.
export function spent() {
  const known = entries();
  const unknown = Object.keys(localStorage).filter((key) =>
    key.startsWith(EARLIER) && !known.some((entry) => EARLIER + entry.fingerprint === key));
  return [...known.map((entry) => entry.epsilon), ...unknown.map(() => LARGEST)].reduce(added, 0);
}

// What would be spent in all with one more study.
export const with_one_more = (epsilon) => added(spent(), epsilon);

// The most that this browser may spend; NaN until its owner has said so.
export const limit = () => Number(localStorage.getItem(LIMIT) ?? "NaN");

export function set_limit(text) {
  const value = Number(text);
  if (!(text.trim() !== "" && Number.isFinite(value) && value > 0)) throw new Error("the limit must be a number above 0");
  localStorage.setItem(LIMIT, String(value));
}

// Writes a report down as spent; throws if the limit does not allow it. If one was written before, that one is returned.
export function spend({ fingerprint, name, epsilon }, message) {
  const before = sent({ fingerprint, name, epsilon });
  if (before) return before;
  const total = with_one_more(epsilon);
  if (!(total <= limit())) {
    throw new Error(`with this study this browser would have spent epsilon ${total} in all, above your limit of ${limit()}: nothing was sent`);
  }
  localStorage.setItem(LEDGER, JSON.stringify([...entries(), { fingerprint, name, epsilon, message }]));
  return message;
}
