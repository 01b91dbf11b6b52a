/** The index of the first text of a sorted list that is greater, by bisection. */
export function firstAfter(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] ?? "") <= text) from = middle + 1;
    else to = middle;
  }
  return from;
}
