/** A range of time. The end is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A range of time that sums of a length fill. */
export interface SummedSpan extends Span {
  /** `undefined`: no sum is short enough, so that the journal must answer. */
  readonly lengthMs: number | undefined;
}

/** The moments that a date can have: nothing is written at any other. */
const firstMoment = -8_640_000_000_000_000;
const lastMoment = 8_640_000_000_000_000;

/** A range within the moments that there are. */
export function spanOf(from: number | undefined, to: number | undefined): Span {
  return { from: Math.max(from ?? firstMoment, firstMoment), to: Math.min(to ?? lastMoment, lastMoment) };
}

/** Divides a range: what whole sums of the first length fill, and beside it what those of the next one do. In the order of time. */
export function summedSpans({ from, to }: Span, lengths: readonly number[]): readonly SummedSpan[] {
  if (from >= to) return [];
  const [length, ...shorter] = lengths;
  if (length === undefined) return [{ lengthMs: undefined, from, to }];
  const begin = Math.ceil(from / length) * length;
  const end = Math.floor(to / length) * length;
  if (begin >= end) return summedSpans({ from, to }, shorter);
  return [
    ...summedSpans({ from, to: begin }, shorter),
    { lengthMs: length, from: begin, to: end },
    ...summedSpans({ from: end, to }, shorter),
  ];
}
