import type { ServerResponse } from "node:http";
import { afterEach, expect, it } from "vitest";
import type { FakeAnswer } from "../../../../src/testing.js";
import { allPairs, honest, type Pair, startPair } from "./start-pair.js";

const key = "sk-upstream-secret";

let pair: Pair | undefined;
afterEach(() => pair?.close());

/** A server that repeats the key of whoever calls it, in its ids and in members of its own. */
function repeating(answer: FakeAnswer, said: string): FakeAnswer {
  const repeat = (text: string) =>
    text
      .replace(/"(id|item_id|call_id|model)":"/g, `"$1":"${said}-`)
      .replace(/^(data: )?\{/gm, `$1{"system_fingerprint":"fp ${said}","x_seen":{"${said}":["Bearer ${said}"]},`);
  return (request, response) => {
    const write = response.write.bind(response) as (text: unknown) => boolean;
    const end = response.end.bind(response) as (text?: unknown) => ServerResponse;
    const setHead = response.writeHead.bind(response) as (status: number, headers: object) => ServerResponse;
    response.writeHead = ((status: number, headers: Record<string, string>) => {
      const { "content-length": _, ...others } = headers;
      return setHead(status, { ...others, "x-seen": said });
    }) as never;
    response.write = ((text: unknown) => write(repeat(String(text)))) as never;
    response.end = ((text?: unknown) => (text === undefined ? end() : end(repeat(String(text))))) as never;
    return answer(request, response);
  };
}

it.each(allPairs.flatMap((each) => [false, true].map((stream) => ({ ...each, stream }))))(
  "no key of $target that its server repeats reaches a client of $client, stream: $stream",
  async ({ client, target, stream }) => {
    pair = await startPair(client, target);
    const hello = { text: `Hello, I am not ${key}` };
    for (const said of [key, `${key}/\\u0041`]) {
      pair.server.reply(repeating(honest(target, hello), said));
      const response = await pair.post({ stream });
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.stringContaining("Hello")]);
      const headers = JSON.stringify([...response.headers]);
      // What the model wrote is the model's.
      const rest = text.replaceAll(/"(?:content|text|delta)":"[^"]*"/g, "");
      expect(text).toContain(` ${key}"`);
      expect([headers.includes(key), rest.includes(key), rest.includes("upstream-secret")]).toEqual([
        false,
        false,
        false,
      ]);
      expect(JSON.stringify([pair.events, pair.warnings])).not.toContain(key);
    }
  },
);
