/**
 * Refuses what is no option, such as a misspelled one.
 * @param by - the function that takes them, for the message.
 * @param known - all that there are.
 * @throws TypeError that names the unknown ones, and those that were probably meant.
 */
export function requireKnownOptions<Options extends object>(
  by: string,
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): void {
  // Whatever is no object has no options: what is missing is told where it is needed.
  if (typeof options !== "object" || options === null) return;
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length > 0) {
    throw new TypeError(`${by}: There is no option ${withHints(unknown, Object.keys(known))}.`);
  }
}

/**
 * The known name that a misspelled one probably stands for: the one that it is the beginning of, or one at most two edits
 * away.
 */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, edits: countEdits(lower, candidate.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  const [best] = ranked;
  if (best === undefined) return undefined;
  if (best.edits <= 1) return best.candidate;
  const longer = lower.length < shortestBeginning ? [] : known.filter((each) => each.toLowerCase().startsWith(lower));
  if (longer.length === 1) return longer[0];
  return best.edits <= 2 && best.edits < best.candidate.length / 2 ? best.candidate : undefined;
}

const shortestBeginning = 4;

/** The most names to list where none is like the unknown one. */
const mostListed = 24;

/** The unknown names in backquotes, with those that were probably meant, or all that there are when they are few. */
export function withHints(names: readonly string[], known: readonly string[]): string {
  const meant = names.map((name) => closestName(name, known));
  const hinted = names.map((name, index) =>
    meant[index] ? `\`${name}\` (did you mean \`${meant[index]}\`?)` : `\`${name}\``,
  );
  const listed = meant.includes(undefined) && known.length > 0 && known.length <= mostListed;
  return hinted.join(", ") + (listed ? ` (there are ${known.map((name) => `\`${name}\``).join(", ")})` : "");
}

/** Levenshtein distance. */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** @throws TypeError when one of these options is neither `true` nor `false`; the message names it. */
export function requireBooleans(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value !== "boolean") throw new TypeError(`\`${name}\` must be true or false.`);
  }
}
