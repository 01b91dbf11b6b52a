/** What a run of calls came to. */
export interface Rate {
  /** Calls that ended in each second. */
  readonly perSecond: number;
  /** How long a call took, in microseconds, as its caller saw it. */
  readonly p50: number;
  readonly p99: number;
}

const mostSamples = 4_000_000;
const samples = new Float64Array(mostSamples);

/**
 * Keeps so many calls in flight for so long.
 * @param call - takes the number of the call and ends with it.
 */
export async function measure(
  call: (index: number) => Promise<unknown> | unknown,
  { inFlight, seconds }: { inFlight: number; seconds: number },
): Promise<Rate> {
  let count = 0;
  let started = 0;
  const begin = performance.now();
  const end = begin + seconds * 1_000;

  async function caller(): Promise<void> {
    for (let now = performance.now(); now < end && count < mostSamples; ) {
      await call(started++);
      const after = performance.now();
      samples[count++] = after - now;
      now = after;
    }
  }

  await Promise.all(Array.from({ length: inFlight }, caller));
  const perSecond = count / ((performance.now() - begin) / 1_000);
  const sorted = samples.subarray(0, count).sort();
  const at = (share: number) => 1_000 * (sorted[Math.min(count - 1, Math.floor(count * share))] ?? Number.NaN);
  return { perSecond, p50: at(0.5), p99: at(0.99) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
