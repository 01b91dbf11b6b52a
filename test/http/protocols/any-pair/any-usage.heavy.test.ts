import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { reporting } from "./reporting.js";
import { allPairs, type Pair, type Spoken, startPair } from "./start-pair.js";

let pair: Pair | undefined;
afterEach(async () => {
  await pair?.close();
  pair = undefined;
});

type Usage = Record<string, unknown>;

const names: Readonly<Record<Spoken, readonly [input: string, output: string]>> = {
  "chat/completions": ["prompt_tokens", "completion_tokens"],
  responses: ["input_tokens", "output_tokens"],
  messages: ["input_tokens", "output_tokens"],
};

const count = fc.oneof(
  { weight: 4, arbitrary: fc.nat(50) },
  fc.constantFrom<unknown>(0, -1, 0.5, 1e12, "7", null, [], [3], {}, { a: 1 }, true, 2 ** 60),
);
const members = [
  ...["prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "inputTokens"],
  ...["cache_read_input_tokens", "cache_creation_input_tokens", "prompt_cache_hit_tokens", "cached_tokens"],
  ...["reasoning_tokens", "citation_tokens", "num_search_queries", "totalTokens"],
];
const inDetails = ["cached_tokens", "reasoning_tokens", "audio_tokens", "cache_write_tokens"];
const details = fc.oneof(fc.dictionary(fc.constantFrom(...inDetails), count), count);
const counts = fc.dictionary(fc.constantFrom(...members), count, { maxKeys: 8 });
const usage = fc
  .record(
    {
      own: counts,
      ...{ prompt_tokens_details: details, completion_tokens_details: details, cache_creation: details },
      ...{ input_tokens_details: details, output_tokens_details: details },
      iterations: fc.oneof(fc.array(counts, { maxLength: 3 }), count),
      service_tier: fc.constantFrom<unknown>("priority", 5, {}),
    },
    { requiredKeys: ["own"] },
  )
  .map(({ own, ...rest }): Usage => ({ ...own, ...rest }));

/** Every `usage` that a client gets, in its order. */
function usagesIn(text: string): Usage[] {
  const found: Usage[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const said = (value as Usage)["usage"];
    if (typeof said === "object" && said !== null) found.push(said as Usage);
    for (const member of Object.values(value)) visit(member);
  };
  const events = text.split("\n").filter((line) => line.startsWith("data: {"));
  for (const json of text.startsWith("{") ? [text] : events.map((line) => line.slice("data: ".length))) {
    visit(JSON.parse(json));
  }
  return found;
}

function wrongIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (!name.endsWith("_tokens") || each === null) return wrongIn(each);
    return Number.isInteger(each) && each >= 0 && each <= 4e9 ? [] : [`${name}: ${JSON.stringify(each)}`];
  });
}

/** What they say of the prompt and of the output, in all. */
function shownBy(usages: readonly Usage[], client: Spoken): { input: number; output: number } {
  const [first = {}] = usages;
  const last = usages.at(-1) ?? {};
  const [inputName, outputName] = names[client];
  const read = (name: string) => Number(last[name] ?? (client === "messages" ? first[name] : 0) ?? 0);
  const ofCaches = client === "messages" ? ["cache_read_input_tokens", "cache_creation_input_tokens"] : [];
  return { input: [inputName, ...ofCaches].reduce((sum, name) => sum + read(name), 0), output: read(outputName) };
}

describe.each(allPairs)("whatever a server reports, $client on $target", ({ client, target, isTranslated }) => {
  it.each([false, true])(
    "is charged for what its client sees, and sees no wrong count (stream: %s)",
    async (stream) => {
      const started = await startPair(client, target);
      pair = started;
      const options = client === "chat/completions" && stream ? { stream_options: { include_usage: true } } : {};
      await fc.assert(
        fc.asyncProperty(usage, async (reported) => {
          started.server.reply(reporting(target, reported));
          const response = await started.post({ stream, ...options });
          const text = await response.text();
          expect(response.status, text).toBe(200);
          const tokens = started.events.at(-1)?.tokens ?? expect.fail();
          expect(tokens.input).toBeGreaterThan(0);
          expect(tokens.output).toBeGreaterThan(0);
          expect(tokens.cachedInput + (tokens.cacheWrite ?? 0)).toBeLessThanOrEqual(tokens.input);
          const usages = usagesIn(text);
          expect(wrongIn(usages), text).toEqual([]);
          const shown = shownBy(usages, client);
          // A server's own words stay as they are where they can be read in two ways.
          if (isTranslated) expect(shown, text).toEqual({ input: tokens.input, output: tokens.output });
          else if (client !== "messages") expect(shown.input, text).toBe(tokens.input);
        }),
        { numRuns: 150 },
      );
    },
  );
});
