import { instant } from "./format.js";

interface TimeProps {
  /** Epoch seconds. */
  readonly at: number;
  /** What is said of it. Default: the day and the minute. */
  readonly text?: string;
}

/** An instant; the exact one is in its title. */
export function Time({ at, text = instant(at) }: TimeProps) {
  const exact = instant(at, { dateStyle: "full", timeStyle: "long" });
  return (
    <time dateTime={new Date(at * 1000).toISOString()} title={exact}>
      {text}
    </time>
  );
}
