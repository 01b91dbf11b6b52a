import { foldName } from "../../wire/folded-names.js";
import { type MemberEdits, memberOf, valueAt } from "../../wire/json-members.js";
import type { Dialect } from "../dialect.js";
import { type CapName, capHolders, capNames, otherCapNames } from "./cap-names.js";
import type { JsonRequest } from "./json-request.js";

const otherCaps: ReadonlySet<string> = new Set(otherCapNames.map(foldName));
const foreign: ReadonlySet<string> = new Set([
  ...otherCaps,
  ...capHolders.map(foldName),
  foldName("max_output_tokens"),
]);

type Request = Pick<JsonRequest, "body" | "members" | "strangers">;

/**
 * Whether a request has an output cap beside its protocol's own. Nothing shows which of them its server heeds.
 * @param own - of the request's protocol.
 */
export function namesOtherCap(request: Request, own: readonly CapName[]): boolean {
  for (const name of capNames) if (!own.includes(name) && isGiven(request, name)) return true;
  if (request.strangers.size === 0) return false;
  for (const [folded, name] of request.strangers) if (foreign.has(folded) && isGiven(request, name)) return true;
  return false;
}

/** Cuts those of them down that are numbers: no upstream is sent a cap above what is held. */
export function cutOtherCaps(request: Request, own: readonly CapName[], most: number, edits: MemberEdits): void {
  for (const member of request.members) {
    const { name } = member;
    const isOther = capNames.some((cap) => cap === name && !own.includes(cap)) || otherCaps.has(foldName(name));
    const value = isOther ? valueAt(request.body, member) : undefined;
    // Below 0 means: without end.
    if (typeof value === "number" && (value > most || value < 0) && !edits.has(name)) edits.set(name, String(most));
  }
}

/** Whether a server is not sent every cap of a request. */
export function dropsCaps({ dropped = [] }: Dialect): boolean {
  return capNames.some((name) => dropped.includes(name));
}

function isGiven({ body, members }: Request, name: string): boolean {
  const member = memberOf(members, name);
  return member !== undefined && body[member.start] !== 0x6e;
}
