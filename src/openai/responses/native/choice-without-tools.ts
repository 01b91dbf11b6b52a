import { editMembers, elementsOf, endOfValue, memberOf, membersOf, valueAt } from "../../../wire/json-members.js";
import type { ResponsesRequest } from "../responses-request.js";
import { runnerOf, type ToolSpan } from "../tool-kinds.js";
import { writeArray } from "./write-array.js";

/** Far more than an honest choice lists, and than its objects have members. A longer one stays as it is. */
const mostListed = 2048;
const mostMembers = 64;

/**
 * What a request's `tool_choice` becomes where tools are removed, as JSON: servers refuse the choice of a tool that is not
 * listed. `undefined`: it stays.
 */
export function choiceWithoutTools(
  { body, leaps, members, tools }: ResponsesRequest,
  gone: readonly ToolSpan[],
): string | Uint8Array | undefined {
  const choice = memberOf(members, "tool_choice");
  if (choice === undefined || body[choice.start] !== 0x7b) return undefined;
  const removed = new Set(gone);
  const left = new Set(tools.filter((tool) => !removed.has(tool)).map(({ type }) => type));
  const typeAt = (start: number) => {
    const type = body[start] === 0x7b ? memberOf(membersOf(body, start, mostMembers, leaps), "type") : undefined;
    return type === undefined ? undefined : valueAt(body, type);
  };
  const isGone = (type: unknown) => typeof type === "string" && runnerOf(type) !== "client" && !left.has(type);
  const type = typeAt(choice.start);
  if (type !== "allowed_tools") return isGone(type) ? '"auto"' : undefined;

  const own = body.subarray(choice.start, choice.end);
  const ownMembers = membersOf(own, 0, mostMembers);
  const list = memberOf(ownMembers, "tools");
  if (ownMembers.length > mostMembers || list === undefined || own[list.start] !== 0x5b) return undefined;
  const starts = elementsOf(body, choice.start + list.start, leaps, mostListed);
  if (starts.length > mostListed) return undefined;
  const kept = starts.filter((start) => !isGone(typeAt(start)));
  if (kept.length === starts.length) return undefined;
  if (kept.length === 0) return '"none"';
  const elements = kept.map((start) => body.subarray(start, endOfValue(body, start, leaps)));
  return editMembers(own, ownMembers, new Map([["tools", writeArray(elements, list.end - list.start)]]));
}
