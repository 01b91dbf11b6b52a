/** The known name that a misspelled one probably stands for: one with the same letters, or at most two edits away. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: countEdits(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.edits - other.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= 2 && best.edits < best.candidate.length / 2 ? best.candidate : undefined;
}

/** The unknown name in backquotes, and the one that was probably meant. */
export function withHint(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  return meant === undefined ? `\`${name}\`` : `\`${name}\` (did you mean \`${meant}\`?)`;
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
