import { Buffer } from "node:buffer";
import type { JsonRequest } from "../protocols/shared/json-request.js";
import { entryOf } from "../protocols/shared/member-rules.js";
import { type ProtocolTable, typeAt } from "../protocols/shared/protocol-table.js";
import type { DirectCall } from "../providers/direct-call.js";
import type { RunningDigest } from "../runtime/runtime.js";
import { runtime } from "../runtime/this-runtime.js";
import { asBuffer } from "../wire/bytes.js";
import { FormScan } from "../wire/form.js";
import { boundaryOf } from "../wire/form-boundary.js";
import { absent, elementsOf, type JsonMember, memberOf, membersOf } from "../wire/json-members.js";
import { JsonCheck } from "../wire/json-syntax.js";
import { MemberSearch } from "../wire/member-search.js";
import { PiecedBytes } from "../wire/pieced-bytes.js";
import { SkipTable } from "../wire/skip-table.js";
import { bySize, SliceCount, type Steps, sliceBytes, slicesOf } from "../wire/slices.js";

/** Raised when equal keys would no longer mean equal requests. */
const version = 3;

/** Deeper than any body that the gateway lets in. */
const mostLevels = 10_000;
/** More than the gateway lets in. */
const formLimits = { mostParts: 1024, mostFiles: 32 };

/** They say which trace a request belongs to, and change nothing of its response. */
const traceHeader = /^(?:traceparent|tracestate|baggage|b3|x-b3-.*|uber-trace-id|x-amzn-trace-id|sentry-trace)$/;

/** A member of a body, or a part of a form. */
interface BodyPart {
  readonly name: string;
  /** Of a file: the ending of its name, and its type. */
  readonly kind: readonly unknown[];
  readonly bytes: Uint8Array;
}

/**
 * Works out the key of a request as a model server gets it: equal for equal members, in whatever order, and for equal files.
 * @param server - where the request goes.
 * @returns `undefined` where the body is none that can be taken apart.
 */
export function requestKey(call: DirectCall, server: unknown): string | undefined | Promise<string | undefined> {
  const body = asBuffer(call.body instanceof Uint8Array ? call.body : Buffer.concat(call.body));
  return bySize(body.length, keySteps(call, body, server));
}

function* keySteps(call: DirectCall, body: Buffer, server: unknown): Steps<string | undefined> {
  const { account, endpoint, model, stream, outputCap, headers = {}, ownKey } = call;
  const boundary = boundaryOf(headers["content-type"] ?? "");
  const parts = boundary === undefined ? yield* membersIn(body) : yield* partsOfForm(body, boundary);
  if (parts === undefined) return undefined;
  const sent = Object.entries(headers).filter(([name]) => name !== "content-type" && !traceHeader.test(name));
  const hash = runtime.startSha256();
  addText(hash, [version, account, server, endpoint, model, stream, outputCap, sent.sort(byFirst)]);
  // What one key has paid for is not given for another.
  if (ownKey !== undefined) addText(hash, ["ownKey", ownKey]);
  const counted = parts.filter(({ name }) => !ignoredMembers.has(name));
  // Those of one name keep their order.
  counted.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
  const count = new SliceCount();
  for (const { name, kind, bytes } of counted) {
    addText(hash, [name, ...kind, bytes.length]);
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      const slice = bytes.subarray(at, at + sliceBytes);
      hash.update(slice);
      if (count.isFull(slice.length)) yield;
    }
  }
  return hash.digest("base64url");
}

function byFirst([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

/** With the length of the bytes that follow, none of them can be taken for what comes after. */
function addText(hash: RunningDigest, values: readonly unknown[]): void {
  hash.update(`${JSON.stringify(values)}\n`);
}

function* membersIn(body: Buffer): Steps<BodyPart[] | undefined> {
  const skips = new SkipTable(body.length);
  const check = new JsonCheck(body, mostLevels, skips);
  yield* slicesOf(check);
  if (check.fault !== undefined) return undefined;
  const members = membersOf(body, 0, Number.POSITIVE_INFINITY, skips);
  return members.map(({ name, start, end }) => ({ name, kind: [], bytes: body.subarray(start, end) }));
}

function* partsOfForm(body: Buffer, boundary: string): Steps<BodyPart[] | undefined> {
  const scan = new FormScan(new PiecedBytes([body]), boundary, formLimits);
  yield* slicesOf(scan);
  if (scan.fault !== undefined) return undefined;
  return scan.parts.map(({ name, filename, type, start, end }) => {
    // Servers tell by it what the file is. The name itself says nothing of what is in it.
    const extension = filename === undefined ? undefined : /\.[^.]*$/.exec(filename)?.[0];
    return { name, kind: [extension, type], bytes: body.subarray(start, end) };
  });
}

/** Members that change nothing of a response, in whatever API. */
const ignoredMembers: ReadonlySet<string> = new Set([
  "user",
  "safety_identifier",
  "metadata",
  "prompt_cache_key",
  "prompt_cache_retention",
  "client_metadata",
  "store",
]);

/**
 * Whether the response depends on nothing but what the request says: neither on what stands elsewhere, nor on what a server
 * does beside answering.
 * @param table - what is known of its protocol; `undefined`: its members are all alike.
 */
export function* dependsOnItself(request: JsonRequest, table: ProtocolTable | undefined): Steps<boolean> {
  if (request.unknown !== undefined || !runsAtClient(request)) return false;
  const isKnown = (member: JsonMember) =>
    table === undefined ||
    ignoredMembers.has(member.name) ||
    table.own.has(member.name) ||
    isPlain(request, member, table);
  return request.members.every(isKnown) && !(yield* refersElsewhere(request.body));
}

function isPlain(request: JsonRequest, member: JsonMember, table: ProtocolTable): boolean {
  const treatment = table.find("member", member.name)?.treatment;
  if (treatment !== undefined && treatment !== "refused" && treatment !== "left out") return true;
  return entryOf(member.name).find(request, member) === undefined;
}

/** Members and types that name what stands elsewhere, and may be another thing tomorrow. */
const references = ['"http', '"HTTP', '"gs://', '"s3://', '"file_id"', '"item_reference"', '"container"'];
const longestReference = 32;

function* refersElsewhere(body: Uint8Array): Steps<boolean> {
  const bytes = asBuffer(body);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) yield;
    const slice = bytes.subarray(at, at + sliceBytes + longestReference);
    if (references.some((reference) => slice.includes(reference))) return true;
  }
  return false;
}

const inTool = new MemberSearch(["type"], 1000);
const mostTools = 2048;

/** What a client runs itself: tools without a type are the client's, too. */
const clientTypes: ReadonlySet<string | undefined> = new Set([undefined, "function", "custom"]);

function runsAtClient({ body, members, skips }: JsonRequest): boolean {
  const tools = memberOf(members, "tools");
  if (tools === undefined || body[tools.start] !== 0x5b) return tools === undefined || body[tools.start] === 0x6e;
  const starts = elementsOf(body, tools.start, skips, mostTools);
  return starts.length <= mostTools && starts.every((start) => isClients(body, start, skips));
}

function isClients(body: Uint8Array, start: number, skips: JsonRequest["skips"]): boolean {
  if (body[start] !== 0x7b || inTool.run(body, start, skips) !== undefined) return false;
  return clientTypes.has(typeAt(body, inTool.starts[0] ?? absent, inTool.ends[0] ?? absent));
}

/** What a client says of kept responses. */
export interface CacheWishes {
  /** The response is neither taken from the cache nor kept. */
  readonly noStore: boolean;
  /** It is made anew, and kept. */
  readonly noCache: boolean;
  /** It is no older, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Reads `cache-control` of a request (RFC 9111, section 5.2.1). What is not understood wishes nothing. */
export function readCacheWishes(header: string | undefined): CacheWishes {
  const wishes = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  const age = wishes.map((each) => /^max-age="?(\d{1,9})"?$/.exec(each)?.[1]).find((each) => each !== undefined);
  return {
    noStore: wishes.includes("no-store"),
    noCache: wishes.includes("no-cache"),
    maxAgeMs: age === undefined ? Number.POSITIVE_INFINITY : Number(age) * 1000,
  };
}
