import { Buffer } from "node:buffer";
import fc from "fast-check";

/** What a model may write, easy and hard to read. */
export const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(" the", "é", "你好", "👋", "\n", '"', "\\", '"},', "x".repeat(100)) },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom("", "\u0000", "\ud800", "\u2028", "\u007f", "<think>", "</think>", "/") },
);

/** The events of a protocol: `run` gives alike ones. */
export interface AnyEvents {
  readonly begin: readonly object[];
  readonly run: fc.Arbitrary<(word: string, padding: string, number: number) => object>;
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
  let json = JSON.stringify(event);
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
export function anyStream({ begin, run, end }: AnyEvents): fc.Arbitrary<Buffer> {
  const runs = fc.array(fc.tuple(run, fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 12 })), {
    maxLength: 4,
  });
  const spoiler = fc.option(fc.tuple(fc.nat(), stray), { freq: 4 });
  const ends = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });
  return fc.tuple(layout, runs, spoiler, ends).map(([chosen, parts, spoils, hasEnd]) => {
    let number = chosen.first;
    const events = parts.flatMap(([make, words]) => words.map(([text, padding]) => make(text, padding, number++)));
    const all = [...begin, ...events, ...(hasEnd ? end : [])].map((event) => frame(event, chosen));
    if (spoils !== null) all.splice(spoils[0] % (all.length + 1), 0, spoils[1]);
    return Buffer.from(all.join(""));
  });
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
