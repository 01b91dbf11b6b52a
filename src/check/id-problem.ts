/** The longest id, in UTF-16 code units: as UTF-8, which an index of PostgreSQL must hold, at most 768 bytes. */
export const longestId = 256;

/**
 * What is wrong with the id of an account, a plan, a key, a model, a request or a grant. Every store keeps two ids
 * apart that pass.
 * Halves of surrogate pairs all become one replacement character in UTF-8, so that two names would be one. NUL ends a
 * text in some stores, and others refuse it.
 *
 * @returns `undefined` when nothing is wrong.
 */
export function idProblem(value: unknown, longest = longestId): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (value.length === 0) return "must not be empty";
  if (value.length > longest) return `must have at most ${longest} characters`;
  if (!value.isWellFormed()) return "must be well-formed Unicode, without halves of surrogate pairs";
  if (hasControl(value)) return "must hold no control characters";
  return undefined;
}

/** Unicode's category Cc, which is complete. A loop, since ids are short and there are several in each request. */
function hasControl(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return true;
  }
  return false;
}
