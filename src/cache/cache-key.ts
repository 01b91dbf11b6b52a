import { runtime } from "#runtime";
import type { RunningDigest } from "../runtime/runtime.js";
import type { JsonMember } from "../wire/json-members.js";
import { SliceCount, type Steps, sliceBytes } from "../wire/slices.js";

/** Raised when equal keys would no longer mean equal requests. */
const version = 2;

/** What a response depends on beside the request itself. */
export interface KeyParts {
  readonly account: string;
  readonly operation: string;
  /** The model's id, and the alias that it was called by. */
  readonly model: readonly (string | undefined)[];
  /** Of the model, such as it is defined: an update makes another one. */
  readonly definition: string | number;
  /** In how many pieces it comes. */
  readonly delivery: "whole" | "events" | "bytes";
  /** The output cap that is added to a request that names none. */
  readonly addedCap: number | undefined;
  /** Of the client's headers, as far as its protocol has them. */
  readonly headers: readonly (string | undefined)[];
  /** What guards of the answer may judge by; `undefined`: there are none. */
  readonly guarded: readonly unknown[] | undefined;
}

/** A file that is part of a request. */
export interface KeyedFile {
  /** Of its part. */
  readonly name: string;
  readonly filename: string;
  readonly type: string | undefined;
  readonly content: { readonly pieces: readonly Uint8Array[]; readonly length: number };
}

/** A request, taken apart. */
export interface KeyedRequest {
  /** JSON. Of a form: its fields. */
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  readonly files?: readonly KeyedFile[] | undefined;
}

/**
 * Works out the key of a request: equal for equal members, in whatever order, and for equal files.
 * @param ignored - members that change nothing of the response.
 */
export function* cacheKeySteps(
  parts: KeyParts,
  { body, members, files = [] }: KeyedRequest,
  ignored: ReadonlySet<string>,
): Steps<string> {
  const { account, operation, model, definition, delivery, addedCap, headers, guarded } = parts;
  const hash = runtime.startSha256();
  const count = new SliceCount();
  addText(hash, [version, account, operation, model, definition, delivery, addedCap, headers, guarded]);
  const counted = members.filter(({ name }) => !ignored.has(name));
  counted.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name, start, end } of counted) {
    addText(hash, [name, end - start]);
    yield* addBytes(hash, body.subarray(start, end), count);
  }
  for (const { name, filename, type, content } of files) {
    // Servers tell by it what the file is. The name itself says nothing of what is in it.
    const extension = /\.[^.]*$/.exec(filename)?.[0];
    addText(hash, [name, extension, type, content.length]);
    for (const piece of content.pieces) yield* addBytes(hash, piece, count);
  }
  return hash.digest("base64url");
}

/** With the length of the bytes that follow, none of them can be taken for what comes after. */
function addText(hash: RunningDigest, values: readonly unknown[]): void {
  hash.update(`${JSON.stringify(values)}\n`);
}

function* addBytes(hash: RunningDigest, bytes: Uint8Array, count: SliceCount): Steps<void> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    const slice = bytes.subarray(at, at + sliceBytes);
    hash.update(slice);
    if (count.isFull(slice.length)) yield;
  }
}
