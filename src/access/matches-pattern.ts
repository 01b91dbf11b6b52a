/** The parts of a pattern between its stars. */
export type PatternParts = readonly string[];

export function patternParts(pattern: string): PatternParts {
  return pattern.split("*");
}

/**
 * Whether the whole text matches a pattern. `*` matches any run of characters, also none.
 *
 * Each part between two stars is matched at its first occurrence, which leaves the most text for the rest. So there is
 * no backtracking. The time is at most the text's length times the pattern's.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  return matchesParts(patternParts(pattern), text);
}

/** As {@link matchesPattern}, for a pattern that many texts are compared with. */
export function matchesParts(parts: PatternParts, text: string): boolean {
  const { length } = parts;
  const first = parts[0] as string;
  const last = parts[length - 1] as string;
  if (length < 2) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (let index = 1; index < length - 1; index++) {
    const part = parts[index] as string;
    // Adjacent stars count as one.
    if (part === "") continue;
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
