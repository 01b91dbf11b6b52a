import { capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import type { WindowLimits, WindowName } from "../../../../src/ledger/credit-ledger.js";
import type { CapLimit, CapWindow, RateLimit } from "../../../../src/ledger/limits.js";

/** What a call of the workload costs at most, in micro-credits. */
export const mostMicro = 100;
/** What it takes of a bucket of tokens at most. */
export const mostTokens = 50;
const sessionMs = 5 * 3_600_000;

/** What limits an account of the workload. */
export interface AccountTerms {
  account: string;
  /** Names the plan of its host's holds. */
  kind: Kind;
  credits: Record<WindowName, number | null>;
  isToppedUp: boolean;
  /** Whether some of what it is topped up with expires, and some is taken back. */
  losesPrepaid: boolean;
  /** Of each of its keys: the caps and rates in which a call counts. Keys share those with the same id. */
  keys: { caps: readonly Omit<CapLimit, "bounds">[]; rates: readonly Omit<RateLimit, "take">[] }[];
}

const hotKinds = ["windows", "mixed", "prepaid", "capped", "rated"] as const;
type Kind = (typeof hotKinds)[number] | "cold";
export const kinds: readonly Kind[] = [...hotKinds, "cold"];

/** A few accounts that run against one limit each, and many that have all of them. @param budget - in micro-credits. */
export function allTerms(budget: number, cold: number): AccountTerms[] {
  return [
    ...hotKinds.map((kind) => termsOf(kind, kind, budget)),
    ...Array.from({ length: cold }, (_, index) => termsOf("cold", `cold-${index}`, budget)),
  ];
}

export function creditsOf(kind: Kind, budget: number): AccountTerms["credits"] {
  const none = { session: null, week: null, month: null };
  if (kind === "windows") return { session: budget, week: budget, month: null };
  if (kind === "mixed") return { ...none, week: Math.ceil(budget / 2) };
  if (kind === "prepaid") return { ...none, month: 0 };
  if (kind === "cold") return { session: 500, week: null, month: 900 };
  return none;
}

function termsOf(kind: Kind, account: string, budget: number): AccountTerms {
  const cap = (id: string, window: CapWindow, limitMicro: number) => ({ id, window, limitMicro });
  const keys = {
    windows: [{ caps: [], rates: [] }],
    mixed: ["a", "b"].map((key) => ({ caps: [cap(`${key}/total`, "total", budget)], rates: [] })),
    prepaid: [{ caps: [], rates: [] }],
    capped: ["a", "b", "c"].map((key) => ({
      caps: [cap(`${key}/day`, "day", Math.ceil(budget / 2)), cap("team/month", "month", budget)],
      rates: [],
    })),
    rated: ["a", "b"].map((key) => ({
      caps: [],
      rates: [
        rate("account/requests", "requests", 300, 15),
        rate(`${key}/tokens`, "tokens", 1_000, key === "a" ? 300 : 60),
        rate("account/concurrent", "concurrent", 6),
      ],
    })),
    cold: ["a", "b"].map((key) => ({
      caps: [cap(`${key}/week`, "week", 400), cap("team/day", "day", 700)],
      rates: [
        rate(`${key}/requests`, "requests", 60, 20),
        rate("account/tokens", "tokens", 600, 400),
        rate(`${key}/concurrent`, "concurrent", 2),
      ],
    })),
  };
  const isToppedUp = kind === "mixed" || kind === "prepaid" || kind === "cold";
  const losesPrepaid = isToppedUp && kind !== "mixed";
  return { account, kind, credits: creditsOf(kind, budget), isToppedUp, losesPrepaid, keys: keys[kind] };
}

function rate(id: string, kind: RateLimit["kind"], limit: number, burst = 0): Omit<RateLimit, "take"> {
  return { id, kind, limit, burst };
}

export function limitsOf({ credits }: AccountTerms): WindowLimits {
  return windowLimits({ credits, sessionMs, now: Date.now() });
}

/** The caps and rates of one of its keys, or of all. */
export function namedOf({ keys }: AccountTerms, tokens = 1, key?: number): { caps: CapLimit[]; rates: RateLimit[] } {
  const chosen = key === undefined ? keys : keys.slice(key, key + 1);
  const bounds = (window: CapWindow) => capBounds(window, undefined, Date.now());
  const caps = chosen.flatMap((one) => one.caps.map((cap) => ({ ...cap, bounds: bounds(cap.window) })));
  const rates = chosen.flatMap((one) => one.rates.map((of) => ({ ...of, take: of.kind === "tokens" ? tokens : 1 })));
  return { caps: distinct(caps), rates: distinct(rates) };
}

function distinct<T extends { id: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
