import type { Buffer } from "node:buffer";
import { ReceivedAnswer } from "../../../model-api/answer/received-answer.js";
import { runtime } from "../../../runtime/this-runtime.js";
import { eventEnd, eventNameStart, eventStart } from "../../../wire/event-frame.js";
import { startsWith } from "../../../wire/json-members.js";

/** A long event of which the client gets the bytes that came, but for the response in it. */
export interface LongEvent {
  readonly name: string;
  /** All of it, with the blank line behind it. */
  readonly bytes: Buffer;
  /** Where its JSON begins. */
  readonly jsonStart: number;
  /** The JSON without its long texts, which are not parsed. */
  readonly outline: ReceivedAnswer;
}

/** In bytes of JSON. Shorter ones have no long text. Of longer ones the members are counted before they are read. */
const shortest = 512;
const longest = 2 ** 20;

const [lineFeed, carriageReturn, openBrace, closeBrace] = [0x0a, 0x0d, 0x7b, 0x7d];

/**
 * The event that begins at `start`, if it is long, whole, and written as usual: its name, and one object of JSON in one line.
 * @returns `undefined` for any other.
 */
export function longEventAt(source: Buffer, start: number): LongEvent | undefined {
  if (!startsWith(source, start, eventNameStart)) return undefined;
  const nameEnd = source.indexOf(lineFeed, start);
  const jsonStart = nameEnd + 1 + eventStart.length;
  if (nameEnd < 0 || !startsWith(source, nameEnd + 1, eventStart) || source[jsonStart] !== openBrace) return undefined;
  const jsonEnd = source.indexOf(lineFeed, jsonStart);
  if (jsonEnd - jsonStart < shortest || jsonEnd - jsonStart > longest) return undefined;
  if (source[jsonEnd - 1] !== closeBrace || source[jsonEnd + 1] !== lineFeed) return undefined;
  const bytes = source.subarray(start, jsonEnd + eventEnd.length);
  const name = source.toString("utf8", start + eventNameStart.length, nameEnd);
  if (name === "" || bytes.includes(carriageReturn) || !runtime.isUtf8(bytes)) return undefined;
  const outline = new ReceivedAnswer(source.subarray(jsonStart, jsonEnd)).outline();
  return outline && { name, bytes, jsonStart: jsonStart - start, outline };
}
