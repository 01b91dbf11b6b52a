import type {
  GrantRequest,
  Lease,
  RenewRequest,
  ReserveRequest,
  Settlement,
  WindowName,
} from "../../../ledger/credit-ledger.js";
import { authorTags } from "../../../ledger/journal.js";
import { checkBounds, checkLeaseTimes, checkLimits } from "../../../ledger/ledger-input.js";
import type { TopUpRequest } from "../../../ledger/limits.js";
import { prepaidOf } from "../../../ledger/rules/account-limits.js";
import { neverExpires } from "../../../ledger/rules/prepaid.js";
import { operationKinds } from "../lua/operate.js";
import type { LeasedWindows } from "./recent-accounts.js";

type KindName = (typeof operationKinds)[number]["name"];

const codes = Object.fromEntries(operationKinds.map(({ name }, index) => [name, index + 1])) as Record<
  KindName,
  number
>;

// JSON, written without a value of which it would be the text. What is no number there would fail the whole script.

/** @param limits - the numbers of the request's, which are checked. */
export function reserveText(request: ReserveRequest, need: number, limits: string): string {
  const { id, amountMicro, leaseMs } = request;
  return `[${codes.reserve},${JSON.stringify(id)},${amountMicro},${leaseMs},${need},${limits}${namedText(request)}]`;
}

const none: readonly never[] = [];

/** The places of the kinds are those by which the script knows them. */
const rateKinds = [undefined, "requests", "tokens", "concurrent"];

function namedText({ caps = none, rates = none }: ReserveRequest): string {
  if (caps.length === 0 && rates.length === 0) return "";
  const ofCaps = caps.map(({ id, limitMicro, bounds }) => [id, limitMicro, ...bounds]);
  const ofRates = rates.map(({ id, kind, take, limit, burst }) => [id, rateKinds.indexOf(kind), take, limit, burst]);
  return `,${JSON.stringify(ofCaps)},${JSON.stringify(ofRates)}`;
}

/**
 * @param windows - of the account's leases.
 * @throws LedgerInputError
 */
export function settleText(
  kind: "charge" | "release",
  lease: Lease,
  settlement: Settlement,
  windows: LeasedWindows,
): string {
  checkLeaseTimes(lease);
  checkLimits(lease.limits);
  const { id, amountMicro, expiresAt } = lease;
  const { mayBeDuplicateSince = Number.MAX_SAFE_INTEGER, tags } = settlement;
  const head = `[${codes.settle},${JSON.stringify(id)},"${kind}",${tagsText(tags)},${settlement.amountMicro}`;
  const rest = `${windows.text(lease)},${limitsText(lease)}${leasedText(lease, settlement)}]`;
  return `${head},${mayBeDuplicateSince},${amountMicro},${expiresAt},${rest}`;
}

function limitsText({ limits: { session, week, month } }: Lease): string {
  return `${session.limitMicro ?? -1},${week.limitMicro ?? -1},${month.limitMicro ?? -1}`;
}

function leasedText(lease: Lease, { rates: uses = none }: Settlement): string {
  const { prepaidAt, caps = none, rates = none } = lease;
  if (prepaidAt === undefined && caps.length === 0 && rates.length === 0 && uses.length === 0) return "";
  const ofCaps = caps.map(({ id, start, end }) => [id, start, end]);
  const ids = rates.map(({ id }) => id);
  const rest = JSON.stringify([prepaidAt ?? Number.MIN_SAFE_INTEGER, prepaidOf(lease), ofCaps, ids, usesOf(uses)]);
  return `,${rest.slice(1, -1)}`;
}

/** As a member of the arguments of the script that renews. */
export function renewal({ lease: { id, amountMicro }, observedMicro, leaseMs, rates, tags }: RenewRequest): unknown[] {
  const uses = rates === undefined ? false : usesOf(rates);
  return [id, amountMicro, observedMicro, leaseMs, uses, tags === undefined ? false : JSON.stringify(tags)];
}

function usesOf(uses: NonNullable<Settlement["rates"]>): unknown[] {
  return uses.map(({ id, actual }) => [id, actual]);
}

/** @param request - its amount is negative where that is taken back. */
export function topUpText({ id, amountMicro, expiresAt = neverExpires, by, note }: TopUpRequest): string {
  const tags = tagsText(authorTags({ by, note }));
  return `[${codes.topUp},${JSON.stringify(id)},${tags},${amountMicro},${expiresAt}]`;
}

/** @throws LedgerInputError */
export function grantText({ id, window, by, note, amountMicro, limits }: GrantRequest): string {
  checkBounds(limits);
  const bounds = [...limits.week.bounds, ...limits.month.bounds];
  const tags = tagsText(authorTags({ by, note }));
  return `[${codes.grant},${JSON.stringify(id)},${JSON.stringify(window)},${tags},${amountMicro},${bounds.join(",")}]`;
}

/** @param named - the windows, each with the id of its entry in the journal. */
export function resetText(named: readonly (readonly [window: WindowName, id: string])[]): string {
  return `[${codes.reset},${JSON.stringify(named)}]`;
}

export const forgetText = `[${codes.forget}]`;

/** The script puts tags into the journal as they are. */
function tagsText(tags: Settlement["tags"]): string {
  return tags === undefined ? '""' : JSON.stringify(JSON.stringify(tags));
}
