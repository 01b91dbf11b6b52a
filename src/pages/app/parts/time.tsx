import { instant, relative } from "./format.js";

/** An instant as people say it; the exact one is in its title. */
export function Time({ at, isRelative }: { readonly at: number; readonly isRelative?: boolean }) {
  const exact = instant(at, { dateStyle: "full", timeStyle: "long" });
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exact}>
      {isRelative ? relative(at) : instant(at)}
    </time>
  );
}
