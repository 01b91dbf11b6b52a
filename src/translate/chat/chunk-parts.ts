import { isRecord } from "../../wire/is-record.js";
import { textSlices } from "../../wire/sliced/text-slices.js";

type Chunk = Readonly<Record<string, unknown>>;

/** Longer texts come in several chunks, in UTF-16 code units. */
const longest = 64 * 1024;

/**
 * A chunk as several that say the same, each of which is short: a client adds their texts up.
 * @returns `undefined` for a chunk without a long text, as nearly all are.
 */
export function chunkParts(chunk: Chunk): Iterable<Chunk> | undefined {
  const { choices } = chunk;
  const [choice, another]: unknown[] = Array.isArray(choices) ? choices : [];
  if (another !== undefined || !isRecord(choice) || !isRecord(choice["delta"])) return undefined;
  const { delta } = choice;
  for (const name of ["content", "reasoning_content"]) {
    const text = delta[name];
    if (typeof text !== "string" || text.length <= longest) continue;
    return partsOf(chunk, choice, text, (part, isFirst) => ({ ...(isFirst ? delta : undefined), [name]: part }));
  }
  const [call, other]: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
  const called = isRecord(call) ? call["function"] : undefined;
  if (other !== undefined || !isRecord(call) || !isRecord(called)) return undefined;
  const { arguments: text } = called;
  if (typeof text !== "string" || text.length <= longest) return undefined;
  return partsOf(chunk, choice, text, (part, isFirst) => {
    const first = { ...call, function: { ...called, arguments: part } };
    const later = { index: call["index"], function: { arguments: part } };
    return { ...(isFirst ? delta : undefined), tool_calls: [isFirst ? first : later] };
  });
}

/** What ends the choice comes with the last one. */
function* partsOf(
  chunk: Chunk,
  choice: Record<string, unknown>,
  text: string,
  deltaOf: (part: string, isFirst: boolean) => object,
): Generator<Chunk, void> {
  let rest = text.length;
  for (const part of textSlices(text, longest)) {
    const delta = deltaOf(part, rest === text.length);
    rest -= part.length;
    const own = rest === 0 ? choice : { ...choice, finish_reason: null };
    yield { ...chunk, choices: [{ ...own, delta }] };
  }
}
