/** Numbers that a seed decides. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Another sequence, which this one decides. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }

  /** From 0 to below 1: Mulberry32. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** @param sigma - the standard deviation of the logarithm. */
  lognormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.next()));
  }
}

/** Ranks from 0, the first of which is the most frequent: the frequency of a rank falls with its power. */
export class Zipf {
  readonly #cumulated: Float64Array;

  constructor(count: number, exponent: number) {
    this.#cumulated = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += (rank + 1) ** -exponent;
      this.#cumulated[rank] = sum;
    }
  }

  rank(random: Random): number {
    const cumulated = this.#cumulated;
    const wanted = random.next() * (cumulated.at(-1) as number);
    let low = 0;
    let high = cumulated.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulated[middle] as number) <= wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
