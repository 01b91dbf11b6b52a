import { checkBounds, checkLeaseTimes } from "../../ledger/check-times.js";
import type { GrantRequest, Lease, ReserveRequest, Settlement, WindowName } from "../../ledger/credit-ledger.js";
import { operationKinds } from "./operation-kinds.js";

type KindName = (typeof operationKinds)[number]["name"];

const codes = Object.fromEntries(operationKinds.map(({ name }, index) => [name, index + 1])) as Record<
  KindName,
  number
>;

// JSON, written without a value of which it would be the text. What is no number there would fail the whole script.

/** @param limits - the numbers of the request's, which are checked. */
export function reserveText({ id, amountMicro, leaseMs }: ReserveRequest, need: number, limits: string): string {
  return `[${codes.reserve},${JSON.stringify(id)},${amountMicro},${leaseMs},${need},${limits}]`;
}

/** @throws LedgerInputError */
export function settleText(kind: "charge" | "release", lease: Lease, settlement: Settlement): string {
  checkLeaseTimes(lease);
  const { id, amountMicro, expiresAt, starts, ends } = lease;
  const { mayBeDuplicateSince = Number.MAX_SAFE_INTEGER, tags } = settlement;
  const head = `[${codes.settle},${JSON.stringify(id)},"${kind}",${tagsText(tags)},${settlement.amountMicro}`;
  return (
    `${head},${mayBeDuplicateSince},${amountMicro},${expiresAt},${starts.session},${starts.week},${starts.month},` +
    `${ends.session},${ends.week},${ends.month}]`
  );
}

/** @throws LedgerInputError */
export function grantText({ id, window, note, amountMicro, limits }: GrantRequest): string {
  checkBounds(limits);
  const bounds = [...limits.week.bounds, ...limits.month.bounds];
  const tags = tagsText(note === undefined ? undefined : { note });
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
