export function median(values) {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @returns the median with the smallest and the largest, or `undefined` when there is nothing to summarise. */
export function spread(values) {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return undefined;
  return { median: median(known), min: Math.min(...known), max: Math.max(...known) };
}

/** Sorts in place. */
export function summarize(samples) {
  samples.sort();
  const at = (share) => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))];
  return samples.length === 0 ? undefined : { p50: at(0.5), p99: at(0.99), count: samples.length };
}

export function shuffled(values) {
  const result = [...values];
  for (let index = result.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [result[index], result[other]] = [result[other], result[index]];
  }
  return result;
}
