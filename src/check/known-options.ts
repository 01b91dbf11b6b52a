import { withHints } from "./closest-name.js";

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
