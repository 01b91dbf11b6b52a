import { type CountedFaults, countedFaults } from "../../books/requests/counted-faults.js";
import { isFailedLine, type LinePath, type LinePlace, linePlace } from "../../books/requests/line-range.js";
import type { LoggedRequest } from "../../books/requests/logged-request.js";
import { digest } from "../account-keys.js";

/** What leads to the lines of a path. No label is the beginning of another one. */
export function labelOf(path: LinePath): string {
  if ("account" in path) {
    const { account, tag } = path as { account: string; tag?: readonly [string, string] };
    return tag === undefined ? `a:${digest(account)}:` : `t:${digest(JSON.stringify([account, ...tag]))}:`;
  }
  if ("keyId" in path) return `k:${digest(path.keyId as string)}:`;
  return "isError" in path ? "e:" : "o:";
}

export function labelOfId(requestId: string): string {
  return `i:${digest(requestId)}:`;
}

/** Its bytes are in the order of the places. */
export function placeText({ at, lineId }: LinePlace): string {
  return `${momentText(at)}:${lineId}`;
}

/** Moments before 1970 count as 1970. */
export function momentText(at: number): string {
  return String(Math.max(0, at)).padStart(16, "0");
}

/** A line as the script takes it. */
export function toStoredLine(given: LoggedRequest): (string | number)[] {
  const { texts, ...line } = given;
  const { account, keyId, tags = {} } = line;
  const place = placeText(linePlace(line));
  const labels = [labelOf({}), labelOfId(line.requestId)];
  if (isFailedLine(line)) labels.push(labelOf({ isError: true }));
  if (keyId !== undefined) labels.push(labelOf({ keyId }));
  if (account !== undefined) {
    labels.push(labelOf({ account }), ...Object.entries(tags).map((tag) => labelOf({ account, tag })));
  }
  const members = labels.map((label) => label + place);
  const entry = JSON.stringify([members, JSON.stringify(line)]);
  const [counted] = countedFaults([line]);
  return [
    ...[place, entry, texts === undefined ? "" : JSON.stringify(texts)],
    ...(counted === undefined ? ["", 0, 0] : [toMember(counted), counted.refusals, counted.failures]),
    members.length,
    ...members,
  ];
}

/** @param entry - as the script has kept it. */
export function fromStoredLine(entry: unknown): LoggedRequest[] {
  const text = String(entry);
  if (text === "") return [];
  const [, line] = JSON.parse(text) as [unknown, string];
  return [JSON.parse(line)];
}

function toMember({ minute, account, plan, model, target, keyId, tags }: CountedFaults): string {
  return `c:${momentText(minute)}:${JSON.stringify([account, plan, model, target, keyId, tags])}`;
}

const beforeNames = "c:".length + 16 + ":".length;

export function fromMember(member: string, refusals: unknown, failures: unknown): CountedFaults {
  const [account, plan, model, target, keyId, tags] = JSON.parse(member.slice(beforeNames));
  const minute = Number(member.slice("c:".length, beforeNames - 1));
  return { minute, account, plan, model, target, keyId, tags, refusals: Number(refusals), failures: Number(failures) };
}
