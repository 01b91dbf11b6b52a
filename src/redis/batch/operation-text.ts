import type {
  GrantRequest,
  Lease,
  ReserveRequest,
  Settlement,
  WindowLimits,
  WindowName,
} from "../../ledger/credit-ledger.js";
import { operationKinds } from "./operation-kinds.js";

type KindName = (typeof operationKinds)[number]["name"];

const codes = Object.fromEntries(operationKinds.map(({ name }, index) => [name, index + 1])) as Record<
  KindName,
  number
>;

interface RememberedLimits {
  readonly session: number | null;
  readonly week: number | null;
  readonly month: number | null;
  readonly lengthMs: number;
  readonly weekBounds: unknown;
  readonly monthBounds: unknown;
  readonly text: string;
}

/** By the object: callers pass the same one until a window begins, or the plan changes. */
const remembered = new WeakMap<WindowLimits, RememberedLimits>();

// JSON, written without a value of which it would be the text.

export function reserveText(request: ReserveRequest, need: number): string {
  const { id, amountMicro, leaseMs, limits } = request;
  return `[${codes.reserve},${JSON.stringify(id)},${amountMicro},${leaseMs},${need},${limitsText(limits)}]`;
}

export function settleText(kind: "charge" | "release", lease: Lease, settlement: Settlement): string {
  const { id, amountMicro, expiresAt, starts, ends } = lease;
  const { mayBeDuplicateSince = Number.MAX_SAFE_INTEGER, tags } = settlement;
  const head = `[${codes.settle},${JSON.stringify(id)},"${kind}",${tagsText(tags)},${settlement.amountMicro}`;
  return (
    `${head},${mayBeDuplicateSince},${amountMicro},${expiresAt},${starts.session},${starts.week},${starts.month},` +
    `${ends.session},${ends.week},${ends.month}]`
  );
}

export function grantText({ id, window, note, amountMicro, limits }: GrantRequest): string {
  const tags = tagsText(note === undefined ? undefined : { note });
  return `[${codes.grant},${JSON.stringify(id)},"${window}",${tags},${amountMicro},${boundsOf(limits).join(",")}]`;
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

function limitsText(limits: WindowLimits): string {
  const { session, week, month } = limits;
  const known = remembered.get(limits);
  const isSame =
    known !== undefined &&
    known.session === session.limitMicro &&
    known.week === week.limitMicro &&
    known.month === month.limitMicro &&
    known.lengthMs === session.lengthMs &&
    known.weekBounds === week.bounds &&
    known.monthBounds === month.bounds;
  if (isSame) return known.text;
  const amounts = [session.limitMicro ?? -1, week.limitMicro ?? -1, month.limitMicro ?? -1];
  const text = [...amounts, session.lengthMs, ...boundsOf(limits)].join(",");
  remembered.set(limits, {
    session: session.limitMicro,
    week: week.limitMicro,
    month: month.limitMicro,
    lengthMs: session.lengthMs,
    weekBounds: week.bounds,
    monthBounds: month.bounds,
    text,
  });
  return text;
}

function boundsOf({ week, month }: WindowLimits): readonly number[] {
  return [...week.bounds, ...month.bounds];
}
