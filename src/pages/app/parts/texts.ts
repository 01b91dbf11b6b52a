import { readSettings } from "./settings.js";

/** The texts that both pages have, as the host wants them. */
export const texts = readSettings().texts;

/** Puts values in the place of their names, such as `{time}`. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}
