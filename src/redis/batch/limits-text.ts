import { checkBounds } from "../../ledger/check-times.js";
import type { WindowLimits } from "../../ledger/credit-ledger.js";

/** Limits as the script takes them. They are the same until a window begins or the plan changes, so it keeps the last text. */
export class LimitsText {
  #text = "";
  #session: number | null = null;
  #week: number | null = null;
  #month: number | null = null;
  #lengthMs = Number.NaN;
  #weekBounds: unknown;
  #monthBounds: unknown;

  /** @throws LedgerInputError */
  of(limits: WindowLimits): string {
    const { session, week, month } = limits;
    const isSame =
      this.#weekBounds === week.bounds &&
      this.#monthBounds === month.bounds &&
      this.#lengthMs === session.lengthMs &&
      this.#session === session.limitMicro &&
      this.#week === week.limitMicro &&
      this.#month === month.limitMicro;
    if (isSame) return this.#text;
    checkBounds(limits);
    this.#weekBounds = week.bounds;
    this.#monthBounds = month.bounds;
    this.#lengthMs = session.lengthMs;
    this.#session = session.limitMicro;
    this.#week = week.limitMicro;
    this.#month = month.limitMicro;
    const numbers = [session.limitMicro ?? -1, week.limitMicro ?? -1, month.limitMicro ?? -1, session.lengthMs];
    this.#text = [...numbers, ...week.bounds, ...month.bounds].join(",");
    return this.#text;
  }
}
