import { readSettings } from "./settings.js";

const { lang } = document.documentElement;
/** The reader's own way to write numbers and times, where it is of the page's language. */
const locale =
  readSettings().locale ?? navigator.languages.find((one) => one.split("-")[0] === lang.split("-")[0]) ?? lang;

/** The reader's, by its IANA name. */
export const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();

const mostDigits = 6;

/** As many decimals as an amount needs to be told from another, 6 at most. */
export function digitsOf(amount: number): number {
  const size = Math.abs(amount);
  if (size === 0 || size >= 1000) return 0;
  return size >= 1 ? 2 : Math.min(mostDigits, 2 - Math.floor(Math.log10(size)));
}

/** An amount in a sentence: no decimals that say nothing. */
export function credits(amount: number): string {
  const digits = digitsOf(amount);
  return number(amount, Number.isInteger(amount) ? 0 : Math.min(2, digits), digits);
}

/** Writes the amounts of one column with the same decimals, so that they stand below each other. */
export function columnOf(amounts: readonly number[]): (amount: number) => string {
  const sizes = amounts.map(Math.abs).filter((size) => size > 0);
  const digits = sizes.length === 0 ? 0 : Math.min(4, Math.max(2, digitsOf(Math.min(...sizes))));
  return (amount) => number(amount, digits, digits);
}

export function number(amount: number, fewest = 0, most = fewest): string {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: fewest, maximumFractionDigits: most }).format(amount);
}

/** Short, such as `12.4K`. */
export function compact(amount: number): string {
  return new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }).format(amount);
}

export function percent(part: number): string {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(part);
}

/** @param seconds - of the epoch. @param options - by default the day and the minute. */
export function instant(seconds: number, options?: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, options ?? { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
}

/** The two largest units of a time, such as `2 hr 14 min`. */
export function duration(seconds: number): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  const parts = [
    ["day", Math.floor(minutes / 1440)],
    ["hour", Math.floor(minutes / 60) % 24],
    ["minute", minutes % 60],
  ] as const;
  const first = parts.findIndex(([, count]) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short" }).format(count))
    .join(" ");
}

/** How long ago, or in how long, such as `3 days ago`. */
export function relative(seconds: number): string {
  const minutes = (seconds * 1000 - Date.now()) / 60_000;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  if (Math.abs(minutes) < 60) return format.format(Math.round(minutes), "minute");
  if (Math.abs(minutes) < 1440) return format.format(Math.round(minutes / 60), "hour");
  return format.format(Math.round(minutes / 1440), "day");
}
