// Numbers as people read them: three digits, prefixes, units.

const prefixes = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
  [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"], [1e-15, "f"], [1e-18, "a"]];

function digits(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value);
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-12));
  return value.toFixed(Math.min(places, 6));
}

/** [number, unit], so that the unit can be set smaller. */
function parts(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return ["–", ""];
  if (value === 0) return ["0", unit];
  const [scale, prefix] = prefixes.find(([scale]) => Math.abs(value) >= scale * 0.9995) || prefixes[prefixes.length - 1];
  return [digits(value / scale), prefix + unit];
}

const si = (value, unit) => parts(value, unit).join(" ").trim();
const energy = (value) => si(value, "J");
const seconds = (value) => si(value, "s");
const count = (value) => value.toLocaleString("en-US", {maximumFractionDigits: 0});
const percent = (share) => !Number.isFinite(share) ? "–" : share > 0 && share < 0.001 ? "<0.1 %" : `${(100 * share).toFixed(1)} %`;
const times = (factor) => Number.isFinite(factor) ? `${digits(factor)}×` : "–";

/** Bits as bytes with binary prefixes. */
function size(bits) {
  if (bits === null || bits === undefined || !Number.isFinite(bits)) return "no limit";
  const bytes = bits / 8;
  if (bytes < 1) return bits === 0 ? "0 B" : `${digits(bits)} bit`;
  const step = Math.min(5, Math.floor(Math.log2(bytes) / 10 + 1e-9));
  const scaled = bytes / 1024 ** step;
  return `${Number.isInteger(scaled) ? count(scaled) : digits(scaled)} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][step]}`;
}

const factor = (value) => value >= 1000 ? count(value) : digits(value);

/** How much B differs from A, in words. */
function change(a, b) {
  if (!(a > 0) || !(b > 0)) return a > 0 ? "only in A" : b > 0 ? "only in B" : a === b ? "equal" : "–";
  const ratio = b / a;
  if (Math.abs(ratio - 1) < 5e-4) return "equal";
  return ratio > 1 ? (ratio >= 2 ? `${factor(ratio)}× more` : `${(100 * (ratio - 1)).toFixed(1)} % more`)
    : ratio <= 0.5 ? `${factor(1 / ratio)}× less` : `${(100 * (1 - ratio)).toFixed(1)} % less`;
}
