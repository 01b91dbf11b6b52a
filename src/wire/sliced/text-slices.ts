import type { ByteWriter } from "../byte-writer.js";
import type { SliceCount, Steps } from "../slices.js";

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
