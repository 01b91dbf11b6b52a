/**
 * Whether the whole text matches a pattern in which `*` stands for any run of characters, also for none.
 *
 * Each part between two stars is taken where it comes first: a later place leaves less room for the rest. So nothing is
 * ever taken back, and whatever a pattern looks like it costs no more than the text's length times its own.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = "", ...inner] = pattern.split("*");
  const last = inner.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const part of inner) {
    // Neighbouring stars are one.
    if (part === "") continue;
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}
