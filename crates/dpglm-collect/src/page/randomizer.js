// What a device does with its vector, as docs/local-reports.md says it: the page's copy of the library's randomizers.
// Privacy rests on whole numbers only: how many candidates are likely, and the two weights. Rounding moves estimates a little.

const DOMAIN = new TextEncoder().encode("dpglm-direction1");

// The key stream of ChaCha20 (RFC 8439), block counter from 0, nonce: 0, k, 0.
function keyStream(seed, k, words) {
  const key = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 16; i++) {
    key.setUint8(i, seed[i]);
    key.setUint8(16 + i, DOMAIN[i]);
  }
  const start = new Uint32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) start[4 + i] = key.getUint32(4 * i, true);
  start[14] = k;
  const out = new Uint32Array(Math.ceil(words / 16) * 16);
  const x = new Uint32Array(16);
  const quarter = (a, b, c, d) => {
    x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 16) | (x[d] >>> 16);
    x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 12) | (x[b] >>> 20);
    x[a] += x[b]; x[d] ^= x[a]; x[d] = (x[d] << 8) | (x[d] >>> 24);
    x[c] += x[d]; x[b] ^= x[c]; x[b] = (x[b] << 7) | (x[b] >>> 25);
  };
  for (let block = 0; 16 * block < words; block++) {
    start[12] = block;
    x.set(start);
    for (let i = 0; i < 10; i++) {
      quarter(0, 4, 8, 12); quarter(1, 5, 9, 13); quarter(2, 6, 10, 14); quarter(3, 7, 11, 15);
      quarter(0, 5, 10, 15); quarter(1, 6, 11, 12); quarter(2, 7, 8, 13); quarter(3, 4, 9, 14);
    }
    for (let i = 0; i < 16; i++) out[16 * block + i] = x[i] + start[i];
  }
  return out;
}

// Direction k of a seed: normal deviates by Box and Muller, divided by their norm.
export function direction(seed, k, dimension) {
  const words = keyStream(seed, k, 2 * Math.ceil(dimension / 2));
  const u = new Float64Array(dimension);
  let squares = 0;
  for (let j = 0; j < dimension; j += 2) {
    const length = Math.sqrt(-2 * Math.log((words[j] + 0.5) / 2 ** 32));
    const angle = (2 * Math.PI * words[j + 1]) / 2 ** 32;
    u[j] = length * Math.cos(angle);
    squares += u[j] * u[j];
    if (j + 1 < dimension) {
      u[j + 1] = length * Math.sin(angle);
      squares += u[j + 1] * u[j + 1];
    }
  }
  const norm = Math.sqrt(squares);
  return u.map((value) => value / norm);
}

// Whole-number weights whose ratio is at most e^epsilon: `inside` for each likely outcome, `outside` for each other.
export function weights(epsilon, likely, outcomes) {
  if (!(epsilon > 0 && epsilon <= 32)) throw new RangeError("epsilon must be above 0 and at most 32");
  if (!(Number.isInteger(likely) && Number.isInteger(outcomes) && likely > 0 && likely < outcomes && outcomes <= 65536)) {
    throw new RangeError("some outcomes must be likely, and others not");
  }
  // More than the error of the exponential function is taken off.
  const ratio = Math.exp(epsilon) * (1 - 2 ** -50);
  const limit = 1n << 62n;
  for (let bits = 45; bits >= 0; bits--) {
    const outside = 1n << BigInt(bits);
    const scaled = BigInt(Math.floor(ratio * 2 ** bits));
    const inside = scaled > outside ? scaled : outside;
    const total = BigInt(likely) * inside + BigInt(outcomes - likely) * outside;
    if (scaled < limit && total < limit) return { inside, outside, likely: BigInt(likely), total };
  }
  return { inside: 1n, outside: 1n, likely: BigInt(likely), total: BigInt(outcomes) };
}

// Which outcome a draw means: [true, number of a likely outcome] or [false, number of another].
function outcome(w, draw) {
  const border = w.likely * w.inside;
  return draw < border ? [true, Number(draw / w.inside)] : [false, Number((draw - border) / w.outside)];
}

// The vector divided by the radius, within the unit ball; zero if an entry is not a finite number.
export function scaled(vector, radius) {
  let x = Array.from(vector, (value) => value / radius);
  if (!x.every(Number.isFinite)) return x.map(() => 0);
  const norm = Math.hypot(...x);
  if (norm > 1) x = x.map((value) => value / norm);
  return x;
}

const dot = (a, b) => a.reduce((sum, value, j) => sum + value * b[j], 0);

// The report's index for given random choices: `plan` is {kind, dimension, radius, epsilon, candidates, cap}.
export function choose(plan, vector, seed, draw, sign) {
  if (vector.length !== plan.dimension) throw new RangeError("the vector has another dimension than the plan");
  const x = scaled(vector, plan.radius);
  if (plan.kind === "duchi") {
    const w = weights(plan.epsilon, 1, 2);
    const kept = Number(sign) * 2 ** -64 < 0.5 + 0.5 * Math.sqrt(dot(x, x));
    const side = dot(x, direction(seed, 0, x.length)) >= 0 === kept;
    return side === outcome(w, draw)[0] ? 1 : 0;
  }
  if (plan.kind !== "privunit") throw new RangeError("unknown randomizer");
  const w = weights(plan.epsilon, plan.cap, plan.candidates);
  const lifted = [...x, Math.sqrt(Math.max(0, 1 - dot(x, x)))];
  const scores = new Float64Array(plan.candidates);
  for (let k = 0; k < plan.candidates; k++) scores[k] = dot(lifted, direction(seed, k, lifted.length));
  const order = Array.from(scores.keys()).sort((a, b) => scores[b] - scores[a] || a - b);
  const cap = order.slice(0, plan.cap).sort((a, b) => a - b);
  const others = order.slice(plan.cap).sort((a, b) => a - b);
  const [likely, place] = outcome(w, draw);
  return likely ? cap[place] : others[place];
}

export function outcomes(plan) {
  return plan.kind === "duchi" ? weights(plan.epsilon, 1, 2).total : weights(plan.epsilon, plan.cap, plan.candidates).total;
}

// Uniform random bits from the browser.
function random64() {
  const words = crypto.getRandomValues(new Uint32Array(2));
  return (BigInt(words[0]) << 32n) | BigInt(words[1]);
}

// Uniform below `bound`, exactly: surplus values are drawn again.
export function below(bound) {
  const spare = 64n - BigInt((bound - 1n).toString(2).length);
  for (;;) {
    const candidate = random64() >> spare;
    if (candidate < bound) return candidate;
  }
}

// The 22 bytes of a report.
export function reportBytes(kind, seed, index) {
  const bytes = new Uint8Array(22);
  bytes.set([1, kind === "duchi" ? 1 : 2]);
  bytes.set(seed, 2);
  new DataView(bytes.buffer).setUint32(18, index, true);
  return bytes;
}

// A fresh report of a vector.
export function randomize(plan, vector) {
  const seed = crypto.getRandomValues(new Uint8Array(16));
  const index = choose(plan, vector, seed, below(outcomes(plan)), random64());
  return { seed, index, bytes: reportBytes(plan.kind, seed, index) };
}

// The direction that a report names, and its sign, in the vector's own dimension: all that the service learns.
export function named(plan, seed, index) {
  if (plan.kind === "duchi") return direction(seed, 0, plan.dimension).map((u) => (index === 1 ? u : -u));
  return direction(seed, index, plan.dimension + 1).slice(0, plan.dimension);
}
