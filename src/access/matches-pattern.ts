/**
 * Whether the whole text matches a pattern. `*` matches any run of characters, also none.
 *
 * Each part between two stars is matched at its first occurrence, which leaves the most text for the rest. So there is
 * no backtracking. The time is at most the text's length times the pattern's.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...inner] = pattern.split("*");
  const last = inner.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const part of inner) {
    // Adjacent stars count as one.
    if (part === "") continue;
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
