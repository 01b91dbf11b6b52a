import type { AdmittedWindows } from "../../ledger/account-state.js";

/**
 * The windows that an account's leases name. They are the same until one begins, so leases share them: a gateway keeps
 * those of many seconds, and the garbage collector moves each object that is kept.
 */
export class LeasedWindows {
  #last: AdmittedWindows | undefined;
  #text = "";

  /**
   * @param at - where the start of the session is, with its end behind it.
   * @param step - from the start of a window to that of the next one.
   */
  read(numbers: Float64Array, at: number, step: number): AdmittedWindows {
    const number = (index: number) => numbers[index] ?? Number.NaN;
    const last = this.#last;
    if (
      last !== undefined &&
      last.starts.session === number(at) &&
      last.ends.session === number(at + 1) &&
      last.starts.week === number(at + step) &&
      last.ends.week === number(at + step + 1) &&
      last.starts.month === number(at + 2 * step) &&
      last.ends.month === number(at + 2 * step + 1)
    ) {
      return last;
    }
    const [week, month] = [at + step, at + 2 * step];
    // Nothing that has one of the leases may change it for the others.
    const starts = Object.freeze({ session: number(at), week: number(week), month: number(month) });
    const ends = Object.freeze({ session: number(at + 1), week: number(week + 1), month: number(month + 1) });
    this.#last = { starts, ends };
    this.#text = textOf(this.#last);
    return this.#last;
  }

  /** As the script takes them. */
  text(windows: AdmittedWindows): string {
    const last = this.#last;
    return last?.starts === windows.starts && last.ends === windows.ends ? this.#text : textOf(windows);
  }
}

function textOf({ starts, ends }: AdmittedWindows): string {
  return `${starts.session},${starts.week},${starts.month},${ends.session},${ends.week},${ends.month}`;
}
