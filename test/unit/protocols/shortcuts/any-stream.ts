import { Buffer } from "node:buffer";
import fc from "fast-check";

/** Stands for a byte that is no UTF-8. */
const noText = "\ue000";

/** A value that goes into the JSON as it is: it may be none. */
export const raw = (text: string) => `#raw:${text}#`;

/** What a model may write, easy and hard to read. */
export const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(" the", "é", "你好", "👋", "\n", '"', "\\", '"},', "x".repeat(100)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "\u0000", "\ud800", "\u2028", "\u007f", "<think>", "</think>", "/", noText),
  },
);

/** Makes an event of what differs from event to event. */
export type MakeEvent = (word: string, padding: string, number: number) => object;

/** The events of a protocol: each of `runs` makes alike ones. */
export interface AnyEvents {
  readonly begin: readonly object[];
  readonly runs: readonly MakeEvent[];
  readonly end: readonly object[];
}

const layout = fc.record({
  before: fc.constantFrom("", "", "event", "other"),
  after: fc.constantFrom("\n\n", "\n\n", "\n\n", "\r\n\r\n", "\n\n\n"),
  space: fc.constantFrom(" ", " ", ""),
  escapes: fc.constantFrom("none", "none", "unicode", "slash"),
  first: fc.nat(1_000),
});

type Layout = typeof layout extends fc.Arbitrary<infer Value> ? Value : never;

function frame(event: object, { before, after, space, escapes }: Layout): string {
  const { type } = event as { type?: string };
  const name = before === "event" && type !== undefined ? `event: ${type}\n` : before === "other" ? "id: 5\n" : "";
  let json = JSON.stringify(event).replace(/"#raw:([^#]*)#"/g, "$1");
  if (escapes === "slash") json = json.replaceAll("/", "\\/");
  if (escapes === "unicode") {
    json = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  return `${name}data:${space}${json}${after}`;
}

const stray = fc.constantFrom(
  ...["data: [DONE]\n\n", ": ping\n\n", "data: {\n\n", "data: {}\n\n", "data\n\n", "\n", "event: ping\ndata: {}\n\n"],
  'event: error\ndata: {"type":"error","error":{"message":"x"}}\n\n',
);

/** Any stream of such events: mostly one that a server would send. */
export function anyStream({ begin, runs: makers, end }: AnyEvents): fc.Arbitrary<Buffer> {
  const words = fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 12 });
  const runs = fc
    .array(fc.constantFrom(...makers), { minLength: 1, maxLength: 3 })
    .chain((few) => fc.array(fc.tuple(fc.constantFrom(...few), words), { maxLength: 6 }));
  const spoiler = fc.option(fc.tuple(fc.nat(), stray), { freq: 4 });
  return fc.tuple(layout, runs, spoiler, fc.boolean()).map(([chosen, parts, spoils, hasEnd]) => {
    let number = chosen.first;
    const events = parts.flatMap(([make, words]) => words.map(([text, padding]) => make(text, padding, number++)));
    const all = [...begin, ...events, ...(hasEnd ? end : [])].map((event) => frame(event, chosen));
    if (spoils !== null) all.splice(spoils[0] % (all.length + 1), 0, spoils[1]);
    return withoutText(Buffer.from(all.join("")));
  });
}

/** In place of {@link noText} there is a byte that is no UTF-8. */
function withoutText(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(Buffer.from(noText).toString("latin1"), "\u00ff"), "latin1");
}

export const cuts = fc.array(fc.nat(4000), { maxLength: 10 });

export const damage = fc.array(
  fc.tuple(fc.nat(4000), fc.constantFrom(0x00, 0x0a, 0x0d, 0x22, 0x2f, 0x5c, 0x30, 0x7d, 0x80, 0xc3, 0xff)),
  { maxLength: 3 },
);

export function damaged(bytes: Buffer, changes: readonly (readonly [number, number])[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const [at, byte] of changes) if (copy.length > 0) copy[at % copy.length] = byte;
  return copy;
}
