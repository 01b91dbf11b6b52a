import type { Buffer } from "node:buffer";
import { ByteWriter } from "./bytes.js";
import { SliceCount, type Steps, sliceBytes, valueBytes } from "./slices.js";

/** JSON text that goes out as it is, within a value that is written. */
export class RawJson {
  readonly parts: readonly (string | LongText)[];

  constructor(...parts: (string | LongText)[]) {
    this.parts = parts;
  }

  /** The same between two texts. */
  within(before: string, behind: string): RawJson {
    const [only, another] = this.parts;
    const isShort = another === undefined && typeof only === "string" && only.length <= fewUnits;
    return isShort ? new RawJson(before + only + behind) : new RawJson(before, ...this.parts, behind);
  }
}

/** A text that is written as a string of JSON. */
interface LongText {
  readonly text: string;
}

/** What is written at once, in UTF-16 code units, and in values. */
const fewUnits = 4096;
const fewValues = 64;

/**
 * Writes a value of JSON as `JSON.stringify` does. Large objects, lists and texts are written in parts.
 * @param expectedBytes - about how long it will be.
 */
export function* jsonSteps(value: unknown, expectedBytes = 1024): Steps<Buffer> {
  // So that a text a little longer need not be copied into a buffer twice as large.
  const out = new ByteWriter(expectedBytes + (expectedBytes > sliceBytes ? sliceBytes : 0));
  yield* writeSteps(out, value, new SliceCount());
  return out.finish();
}

export function* writeSteps(out: ByteWriter, value: unknown, count: SliceCount): Steps<void> {
  if (value instanceof RawJson) yield* writeRaw(out, value, count);
  else if (typeof value === "string" && value.length > fewUnits) yield* writeText(out, value, count);
  else if (typeof value !== "object" || value === null || isSmall(value)) {
    const text = JSON.stringify(value) ?? "null";
    out.writeText(text);
    if (count.isFull(text.length + valueBytes)) yield;
  } else if (Array.isArray(value)) {
    let next = "[";
    for (const each of value) {
      out.writeText(next);
      next = ",";
      yield* writeSteps(out, each, count);
    }
    out.writeText(next === "[" ? "[]" : "]");
  } else {
    let next = "{";
    for (const name of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined) continue;
      out.writeText(`${next}${JSON.stringify(name)}:`);
      next = ",";
      yield* writeSteps(out, member, count);
    }
    out.writeText(next === "{" ? "{}" : "}");
  }
}

function* writeRaw(out: ByteWriter, { parts }: RawJson, count: SliceCount): Steps<void> {
  for (const part of parts) {
    if (typeof part === "string") yield* textSteps(out, part, count);
    else yield* writeSteps(out, part.text, count);
  }
}

function* writeText(out: ByteWriter, text: string, count: SliceCount): Steps<void> {
  out.writeText('"');
  for (const part of textSlices(text)) {
    out.writeText(JSON.stringify(part).slice(1, -1));
    if (count.isFull(part.length)) yield;
  }
  out.writeText('"');
}

/** Whether the value has few values and short texts alone, at a look at as many. */
function isSmall(value: object): boolean {
  let units = fewUnits;
  let values = fewValues;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const each = waiting.pop();
    if (typeof each === "string") units -= each.length;
    else if (each instanceof RawJson) return false;
    else if (typeof each === "object" && each !== null) {
      if (Array.isArray(each) && each.length > values) return false;
      for (const name in each) {
        units -= name.length;
        if (--values < 0) return false;
        waiting.push((each as Record<string, unknown>)[name]);
      }
    }
    if (units < 0) return false;
  }
  return true;
}

/** What is written of a text in one go, in UTF-16 code units. */
const sliceLength = 64 * 1024;

/** The parts of a text, none of which ends between the halves of a surrogate pair. */
export function* textSlices(text: string, length = sliceLength): Generator<string, void> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + length, text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))) end++;
    yield start === 0 && end === text.length ? text : text.slice(start, end);
    start = end;
  }
}

/** Writes a text as UTF-8. */
export function* textSteps(out: ByteWriter, text: string, count: SliceCount): Steps<void> {
  for (const part of textSlices(text)) {
    out.writeText(part);
    if (count.isFull(part.length)) yield;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
