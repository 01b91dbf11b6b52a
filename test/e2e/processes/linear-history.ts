/** What a process did to a value that all share, and what it was told. Moments are of one clock. */
export interface ValueStep {
  readonly value: string;
  readonly from: number;
  readonly to: number;
  readonly kind: "put" | "swap" | "remove" | "read";
  /** What a swap expects; `null`: nothing. */
  readonly expected?: string | null;
  /** What it wrote; of a swap that was refused `null`. */
  readonly wrote?: string | null;
  /** Of a removal whether there was one, of a reading what there was. */
  readonly told?: string | boolean | null;
}

/**
 * Whether there is an order of all steps, each at some moment between its beginning and its end, in which what every
 * process was told is true. @param histories - of each process, in its order, of one value that is not there at first.
 */
export function isLinear(histories: readonly (readonly ValueStep[])[]): boolean {
  const known = new Set<string>();
  const search = (places: readonly number[], value: string | null): boolean => {
    const state = JSON.stringify([places, value]);
    if (known.has(state)) return false;
    known.add(state);
    const next = places.map((place, process) => histories[process]?.[place]);
    const firstEnd = Math.min(...next.map((step) => step?.to ?? Number.POSITIVE_INFINITY));
    if (firstEnd === Number.POSITIVE_INFINITY) return true;
    return next.some((step, process) => {
      const after = step && step.from <= firstEnd ? afterStep(step, value) : undefined;
      return after !== undefined && search(places.toSpliced(process, 1, (places[process] ?? 0) + 1), after);
    });
  };
  return search(
    histories.map(() => 0),
    null,
  );
}

/** @returns `undefined` where it would have been told another thing. */
function afterStep({ kind, expected = null, wrote = null, told }: ValueStep, value: string | null) {
  if (kind === "read") return told === value ? value : undefined;
  if (kind === "remove") return told === (value !== null) ? null : undefined;
  if (kind === "put") return wrote;
  if (wrote === null) return value === expected ? undefined : value;
  return value === expected ? wrote : undefined;
}
