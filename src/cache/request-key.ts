import { Buffer } from "node:buffer";
import type { DirectCall } from "../providers/direct-call.js";
import type { RunningDigest } from "../runtime/runtime.js";
import { runtime } from "../runtime/this-runtime.js";
import { asBuffer } from "../wire/as-buffer.js";
import { FormScan } from "../wire/form/form-scan.js";
import { boundaryOf } from "../wire/form/form-type.js";
import { membersOf } from "../wire/json-members.js";
import { JsonCheck } from "../wire/json-syntax.js";
import { LeapTable } from "../wire/leaps.js";
import { PiecedBytes } from "../wire/pieces/pieced-bytes.js";
import { bySize, SliceCount, type Steps, sliceBytes, slicesOf } from "../wire/slices.js";
import { ignoredMembers } from "./depends-on-itself.js";

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
  const { account, endpoint, model, stream, outputCap, headers = {} } = call;
  const boundary = boundaryOf(headers["content-type"] ?? "");
  const parts = boundary === undefined ? yield* membersIn(body) : yield* partsOfForm(body, boundary);
  if (parts === undefined) return undefined;
  const sent = Object.entries(headers).filter(([name]) => name !== "content-type" && !traceHeader.test(name));
  const hash = runtime.startSha256();
  addText(hash, [version, account, server, endpoint, model, stream, outputCap, sent.sort(byFirst)]);
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
  const leaps = new LeapTable(body.length);
  const check = new JsonCheck(body, mostLevels, leaps);
  yield* slicesOf(check);
  if (check.fault !== undefined) return undefined;
  const members = membersOf(body, 0, Number.POSITIVE_INFINITY, leaps);
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
