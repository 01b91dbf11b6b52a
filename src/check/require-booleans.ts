/** @throws TypeError when one of these options is neither `true` nor `false`; the message names it. */
export function requireBooleans(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (typeof value !== "boolean") throw new TypeError(`\`${name}\` must be true or false.`);
  }
}
