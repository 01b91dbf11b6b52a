import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact, redactKeys } from "../../src/openai/redact.js";
import type { UpstreamSecrets } from "../../src/openai/upstream-secrets.js";

const key = "sk-proj-Qm7vT2xLw9ZkR4pNc8YhBd3J";
const secrets: UpstreamSecrets = {
  keys: [key, "hdr_8d7c6b5a4f3e"],
  texts: ["Acme Internal"],
  urls: ["http://vllm-7.gpu.acme.example:8000/tenants/prod-7f3a/v1?api-version=2024-10-21&sig=Zx81kqWe7Tn0"],
};
const base = { upstreamModel: "meta-llama/Llama-3.1-8B-Instruct", model: "acme/small", secrets: () => secrets };
const told = (text: string, request?: string) =>
  redact(text, { ...base, ...(request === undefined ? undefined : { request: Buffer.from(request) }) });

describe("real messages of upstreams that tell a client what to mend", () => {
  it.each([
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens. Please reduce the length of the messages.",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
    "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Invalid schema for function 'get_weather': In context=('properties', 'city'), 'additionalProperties' is required to be supplied and to be false.",
    "messages.0.content.1.image_url.url: Input should be a valid URL",
    "messages: at least one message is required; input tokens: 12/4096",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
    "Unsupported MIME type image/tiff; use image/png, image/jpeg or audio/wav (about 1/2 of the size).",
    "The knowledge of acme/small ends at 2024-10-01, see 2026-01-01T12:30:00Z and 12:30:45.",
    "response_format.json_schema.schema.properties.network must be an object at /messages/0/content and #/properties/host",
    "Error at line 1 column 12 (char 11), position:1234, line:42: expecting ',' delimiter",
    "body -> messages -> 0 -> role: value is not a valid enumeration member; permitted: 'system', 'user'",
    "Unknown parameter: 'key_name', did you mean 'user_id', 'user-defined' or 'org-wide'?",
    "Use claude-3-5-sonnet-20241022, gpt-4o-mini-2024-07-18 or text-embedding-3-small with top_p and n instead.",
    "POST /v1/chat/completions does not know the Bearer token type, nor basic authentication; token limits: 4096.",
    "ChatCompletionRequestUserMessageContentPartText: prompt, tools and/or functions must be given. max_token=5",
    "Failed to parse 'n': -1 < 0.5e3 and 50% of 3.14 (v1.2) is too much; user@ is not a name.",
    "Conversation roles must alternate user/assistant/user/assistant/...",
  ])("stays as it is: %s", (message) => {
    expect(told(message)).toBe(message);
  });

  it("has the client's name for the model", () => {
    expect(told("The model meta-llama/Llama-3.1-8B-Instruct does not support tools.")).toBe(
      "The model acme/small does not support tools.",
    );
  });
});

describe("what is the client's own", () => {
  const url = "https://images.example.org/cats/1.png?size=7&sig=Ab12Cd34Ef56Gh78Jk";
  const id = "call_AbCd1234EfGh5678IjKl9012";

  it("is told to it: the address of an image, the id of a call", () => {
    const request = JSON.stringify({ messages: [{ content: url, tool_call_id: id }] });
    const message = `Failed to download ${url}: 404. No answer to '${id}'.`;
    expect(told(message, request)).toBe(message);
    expect(told(message)).toBe("Failed to download [url]: 404. No answer to '[redacted]'.");
  });

  it("is not what it could only have guessed: hosts, addresses and files of the operator's, and keys", () => {
    const guesses = `10.0.0.7 http://10.0.0.7:8000/x http://vllm-7.gpu.acme.example:8000/x /srv/app/main.py db.internal ${key} https://db.internal/x`;
    const answer = told(`Failed: ${guesses}`, JSON.stringify({ messages: [{ content: guesses }] }));
    expect(answer).not.toMatch(/10\.0|acme\.example|srv|internal|Qm7v/);
  });
});

describe("what is not the client's", () => {
  it.each([
    ["a key without its prefix", `Bad key ${key.slice(8)} given`, "Bad key [redacted] given"],
    ["the end of a masked key", "Key sk-proj-********************8YhBd3J is wrong", "Key [redacted] is wrong"],
    ["a key in other letters", `Key ${key.toUpperCase()} is wrong`, "Key [redacted] is wrong"],
    ["a header's value", "team hdr_8d7c6b5a4f3e of Acme Internal", "team [redacted] of [redacted]"],
    ["a host with its port", "to vllm-7.gpu.acme.example:8000 failed", "to [redacted] failed"],
    ["a host's first label", "upstream vllm-7 is full", "upstream [redacted] is full"],
    ["a part of the base URL's path", "tenant prod-7f3a has no such model", "tenant [redacted] has no such model"],
    ["another internal host", "to db-3.internal:5432 and redis:6379 failed", "to [host] and [host] failed"],
    ["an address", "from 10.1.2.3:443 via [fe80::1]:80 and ::1", "from [host] via [host] and ::1"],
    ["a URL", "see https://platform.openai.com/account/api-keys.", "see [url]."],
    ["a URL without a scheme", "see platform.openai.com/account/api-keys.", "see [url]."],
    ["a query's token", "GET failed: token=abcdefgh&x=1", "GET failed: token=[redacted]&x=1"],
    ["a setting", 'with api_key: "a1b2c3d4"', 'with api_key: "[redacted]"'],
    ["a bearer", "sent Authorization: Bearer abc.DEF-123", "sent Authorization: Bearer [redacted]"],
    ["a key of another service", "hf_AbCdEfGhIjKl or AKIAIOSFODNN7EXAMPLE", "[redacted] or [redacted]"],
    ["an id", "request 6f1c2f3e-3b7a-4a51-9a52-0f4c2f6f8e11 of org-Ab12Cd34", "request [redacted] of [redacted]"],
    ["a file", "cannot read /usr/lib/python3/site.py or C:\\models\\a.bin", "cannot read [path] or [path]"],
    ["a line of source", "in serving_chat.py:412: bad", "in [path]: bad"],
    ["a person", "ask ops.team@acme.example now", "ask [redacted] now"],
  ])("is taken out: %s", (_name, text, expected) => {
    expect(told(text)).toBe(expected);
  });

  it.each([
    [
      "Python's",
      'Bad input.\nTraceback (most recent call last):\n  File "/app/serve.py", line 42, in create\n    engine.add(prompt)\n    ^^^^^^^^^\nValueError: too long',
      "Bad input. ValueError: too long",
    ],
    [
      "Python's in one line",
      'Bad. Traceback (most recent call last): File "/app/serve.py", line 42, in create engine.add(x) vllm.ValidationError: too long',
      "Bad. vllm.ValidationError: too long",
    ],
    ["JavaScript's", "Error: no\n    at run (/srv/a.js:3:4)\n    at file:///srv/b.mjs:1:1", "Error: no"],
    ["Go's", "panic: no\n\ngoroutine 1 [running]:\nmain.go:12 +0x1d", "panic: no"],
    ["Rust's", "thread 'main' panicked at src/main.rs:4:5:\nno such tool", "no such tool"],
    ["an escaped one", 'Bad.\\n  File \\"/app/x.py\\", line 3', "Bad."],
  ])("is taken out: a stack trace of %s", (_name, text, expected) => {
    expect(
      told(text)
        .replace(/\s+/g, " ")
        .replace(/[\\"]+ *$/, "")
        .trim(),
    ).toContain(expected);
    expect(told(text)).not.toMatch(/app|srv|goroutine|panicked|engine\.add|line \d/);
  });
});

const letters = "abcdefghijklmnopqrstuvwxyz";
const digits = "0123456789";
const pick = (alphabet: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
const secret = fc
  .tuple(
    fc.constantFrom("sk-", "", "gsk_", "sk-ant-api03-", "key."),
    pick(`${letters}${letters.toUpperCase()}${digits}_-`, 12, 60),
  )
  .map(([prefix, rest]) => prefix + rest)
  .filter((text) => !/^[-_]+$/.test(text));
const label = fc.tuple(pick(letters, 5, 10), pick(digits, 2, 3)).map(([name, number]) => `${name}-${number}`);
const host = fc
  .tuple(
    fc.array(label, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", ".internal", ".svc.cluster.local", ".acme.example"),
  )
  .map(([labels, domain]) => labels.join(".") + domain);
const path = fc.array(label, { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join("/")}`);
const filler = fc.constantFrom(
  "The request failed:",
  "invalid value for 'messages[0].content';",
  '{"error":{"message":"',
  "while calling",
  "(see",
  "\\n",
  "\n",
  ")",
  "max_tokens=5",
  "—",
  "ß",
  "İ",
);

/** Fragments of six characters of a secret that are still in the text, but for those that the surroundings have, too. */
function fragmentsIn(text: string, whole: string): string[] {
  const lower = text.toLowerCase();
  return Array.from({ length: Math.max(0, whole.length - 5) }, (_, start) =>
    whole.slice(start, start + 6).toLowerCase(),
  ).filter((part) => lower.includes(part));
}

describe("for random secrets in random texts", () => {
  const embedded = fc.record({
    key: secret,
    header: secret,
    host,
    path,
    port: fc.integer({ min: 1000, max: 65_535 }),
    cut: fc.tuple(fc.nat(40), fc.nat(40)),
    order: fc.array(fc.nat(13), { minLength: 1, maxLength: 12 }),
    around: fc.array(filler, { minLength: 12, maxLength: 12 }),
    glue: fc.constantFrom(" ", "", '"', "/", "=", ":", ", "),
    length: fc.constantFrom(0, 0, 0, 900, 8150),
  });

  it("no fragment of six characters gets out", () => {
    fc.assert(
      fc.property(embedded, ({ key, header, host, path, port, cut, order, around, glue, length }) => {
        const from = cut[0] % Math.max(1, key.length - 6);
        const part = key.slice(from, from + 6 + cut[1]);
        const forms = [
          key,
          part,
          key.toUpperCase(),
          `Bearer ${key}`,
          `api_key=${key}`,
          `https://x.test/?token=${key}`,
          header,
          host,
          `${host}:${port}`,
          `http://${host}:${port}${path}/chat/completions?key=${key}`,
          path,
          `${path}/v1`,
          host.split(".")[0] ?? host,
          `${key.slice(0, 7)}****${key.slice(-9)}`,
        ];
        const body = order.map((index, place) => around[place % around.length] + glue + forms[index]).join(" ");
        const text = "lorem ipsum ".repeat(Math.ceil(length / 12)).slice(0, length) + body;
        const known = { keys: [key, header], urls: [`http://${host}:${port}${path}`] };
        const answer = redact(text, { upstreamModel: "up-model", model: "acme/small", secrets: () => known });
        expect(answer.length).toBeLessThanOrEqual(1000);
        expect(fragmentsIn(answer, key)).toEqual([]);
        expect(fragmentsIn(answer, header)).toEqual([]);
        expect(answer).not.toContain(host);
        if (path.length >= 6) expect(answer).not.toContain(path);
        const warned = redactKeys(text, () => known);
        expect([...fragmentsIn(warned, key), ...fragmentsIn(warned, header)]).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  it("no key gets out of which nobody has told, where it looks like one", () => {
    const unknown = fc
      .tuple(fc.constantFrom("sk-", "gsk_", "hf_", "AIza", "sk-or-v1-"), pick(`${letters}${digits}`, 20, 40))
      .map(([prefix, rest]) => prefix + rest);
    fc.assert(
      fc.property(unknown, filler, (text, before) => {
        const answer = redact(`${before} ${text} was refused`, { upstreamModel: "up", model: "m" });
        expect(fragmentsIn(answer, text.slice(4))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

it("a host that is cut off with a long text does not get out in part", () => {
  const url = `https://example.org/${"x".repeat(40)} `;
  for (let shown = 1; shown < 30; shown++) {
    const before = url.repeat(200).slice(0, 8192 - shown - 1);
    const answer = told(`${before} vllm-7.gpu.acme.example:8000 is full`);
    expect(answer).toContain("[url] [url]");
    expect(answer).not.toMatch(/vllm|gpu|acme/);
  }
});

it("takes time in proportion to what it looks at, whatever the text", () => {
  const hostile = [
    "a-",
    "a.",
    "key=",
    "token:",
    "/",
    "at ",
    "(",
    "[:",
    '"',
    "sk-",
    'File "',
    "Error",
    "\\",
    "*",
    "a:1",
    "x@",
  ];
  const time = (text: string) => {
    const start = process.cpuUsage().user;
    for (let round = 0; round < 5; round++) told(text);
    return process.cpuUsage().user - start;
  };
  const plain = "The value is not valid for this model. ".repeat(210);
  time(plain);
  const baseline = Math.max(time(plain), 5000);
  for (const piece of hostile) {
    const long = piece.repeat(Math.ceil(8000 / piece.length));
    expect([piece, time(long) < 60 * baseline]).toEqual([piece, true]);
    // What is beyond the most that is looked at costs nothing.
    expect([piece, time(long.repeat(200)) < 60 * baseline]).toEqual([piece, true]);
  }
});
