import { LRUCache } from "lru-cache";
import type { WindowLimits } from "../../../ledger/credit-ledger.js";
import { checkBounds } from "../../../ledger/ledger-input.js";
import type { AdmittedWindows } from "../../../ledger/rules/windows.js";
import type { AccountKeys } from "../account-keys.js";
import { packed } from "../script.js";

/** The keys that every script of the ledger takes. */
export interface LedgerKeys {
  /** Those of ids begin with the first of them. */
  readonly names: readonly string[];
  readonly packed: string;
}

/** What operations on an account have in common. To make it costs more than all else about them. */
interface RecentAccount {
  readonly keys: LedgerKeys;
  readonly limits: LimitsText;
  readonly windows: LeasedWindows;
}

/** Of some 1,500 bytes each. */
const mostRecent = 10_000;

/** Remembers the accounts that were used last. */
export class RecentAccounts {
  readonly #keys: AccountKeys;
  readonly #recent = new LRUCache<string, RecentAccount>({ max: mostRecent });

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  get(account: string): RecentAccount {
    const known = this.#recent.get(account);
    if (known) return known;
    const names = this.#keys.of(account);
    const keys = { names, packed: names.map(packed).join("") };
    const made = { keys, limits: new LimitsText(), windows: new LeasedWindows() };
    this.#recent.set(account, made);
    return made;
  }
}

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

/** Limits as the script takes them. They are the same until a window begins or the plan changes, so it keeps the last text. */
class LimitsText {
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
