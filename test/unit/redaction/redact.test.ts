import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatNames } from "../../../src/protocols/chat/chat-request.js";
import { embeddingNames } from "../../../src/protocols/embeddings/embedding-request.js";
import { redact, redactKeys } from "../../../src/redaction/redact.js";
import type { UpstreamSecrets } from "../../../src/redaction/upstream-secrets.js";

const key = "sk-proj-Qm7vT2xLw9ZkR4pNc8YhBd3J";
const secrets: UpstreamSecrets = {
  keys: [key, "hdr_8d7c6b5a4f3e"],
  texts: ["Acme Internal"],
  urls: ["http://vllm-7.gpu.acme.example:8000/tenants/prod-7f3a/v1?api-version=2024-10-21&sig=Zx81kqWe7Tn0"],
};
const base = { upstreamModel: "meta-llama/Llama-3.1-8B-Instruct", model: "acme/small", secrets: () => secrets };
/** Nothing else is there than what is expected, and what stands for the rest. */
function expectWords(answer: string, expected: string): void {
  const left = new Set(expected.split(/[^\p{L}\p{N}]+/u));
  expect(answer.split(/[^\p{L}\p{N}]+/u).filter((word) => !/^(?:redacted)?$/.test(word) && !left.has(word))).toEqual(
    [],
  );
}

const told = (text: string, request?: string) =>
  redact(text, { ...base, ...(request === undefined ? undefined : { request: Buffer.from(request) }) });

it("a key with escapes in it is a key in a text for the operator", () => {
  const text = `Wrong: ${key.replace("s", "\\u0073").replaceAll("-", "\\u002D")} \\u0022x\\u00e9`;
  expect(redactKeys(text, () => secrets)).toBe("Wrong: [redacted] \\u0022x\\u00e9");
});

describe("real messages of upstreams that tell a client what to mend", () => {
  it.each([
    "Invalid 'messages[0].content[0].image_url.url'. Expected a data URL, but got unsupported MIME type 'image/bmp'.",
    "unsupported image type 'image/heic'",
    "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
    "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
    "Invalid value: 'maximal'. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
    "Content Exists Risk",
    "Input data may contain inappropriate content.",
    "try increasing the context size or enable context shift",
    "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    "Value error, Grammar compile failed: unsupported keyword",
  ])("keep all their words, their types and paths: %s", (text) => {
    expect(told(text, '{"reasoning_effort":"maximal"}')).toBe(text);
  });

  it("keep the words of any language, at its vendor alone", () => {
    for (const text of [
      "输入的内容包含敏感词，请修改后重试。",
      "参数 temperature 的值无效：必须在 0 到 2 之间。",
      "La valeur de temperature doit être comprise entre 0 et 2.",
    ]) {
      expect(redact(text, { ...base, secrets: () => ({ isVendor: true }) })).toBe(text);
      expect(told(text)).not.toMatch(/敏|值|valeur/);
    }
  });

  it.each([...new Set([...chatNames.all, ...embeddingNames.all])])(
    "keep the name of the member %s before a number",
    (name) => {
      expect(told(`Wrong value in ${name}:1000, too large.`)).toBe(`Wrong value in ${name}:1000, too large.`);
    },
  );

  it.each([
    "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an integer instead.",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens. Please reduce the length of the messages.",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
    "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Invalid schema for function 'search_text': In context=('properties', 'value'), 'additionalProperties' is required to be supplied and to be false.",
    "messages.0.content.1.image_url.url: Input should be a valid URL",
    "messages: at least one message is required; input tokens: 12/4096",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
    "Unsupported MIME type image/tiff; use image/png, image/jpeg or audio/wav (about 1/2 of the size).",
    "The knowledge of acme/small ends at 2024-10-01, see 2026-01-01T12:30:00Z and 12:30:45.",
    "response_format.json_schema.schema.properties.value must be an object at /messages/0/content and #/properties/name",
    "Error at line 1 column 12 (char 11), position:1234, line:42: expecting ',' delimiter",
    "body -> messages -> 0 -> role: value is not a valid enumeration member; permitted: 'system', 'user'",
    "Unknown parameter: 'key_name', did you mean 'user_id' or 'user-defined'?",
    "ChatCompletionRequestUserMessageContentPartText: prompt, tools and/or functions must be given. max_token=5",
    "Failed to parse 'n': -1 < 0.5e3 and 50% of 3.14 (v1.2) is too much.",
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "Schema: /anyOf/0/type, #/anyOf/1/properties/value, /properties/id/items/0 and /$defs/Place/allOf are not valid.",
    "/parameters/properties/value/type must be equal to one of the allowed values",
    "Too large: max_tokens:4096, n:128, max_completion_tokens:16384, num_ctx:2048, seed:42, top_k:50 and input_tokens:130512.",
    "The image's URL must begin with https:// or http://, not with 'https://', (https://) or data:.",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "temperature must be non-negative, got -1.0. top_p must be in (0, 1], got 2.0.",
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
    "Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.",
    "Image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes. At most 1 image(s) may be provided in one request.",
    "Failed to deserialize the JSON body into the target type: messages[0].role: expected one of `system`, `user`",
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
    expect(told(message)).toBe("Failed to download [redacted]. No answer to '[redacted]'.");
  });

  it.each([
    "Invalid tool name 'shell.run': 'my.app' and \"node.dev\" are taken, reasoning.effort.io, too.",
    "#/properties/city must be a string, properties.city.name and /properties/city/0/name must not be empty",
    "name=shell.run, tool:node.dev",
  ])("is told to it: names with dots, and paths of its own members: %s", (message) => {
    const tools = ["shell.run", "my.app", "node.dev", "reasoning.effort.io"].map((name) => ({ name }));
    const schema = { properties: { city: { type: "object", properties: { name: { type: "string" } } } } };
    expect(told(message, JSON.stringify({ tools, schema }))).toBe(message);
    expect(told(message, "{}")).not.toMatch(/shell.run|node.dev|my\.app|effort.io|city/);
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
    ["Go's pair of addresses", "read tcp 10.0.0.1:54321->10.0.0.2:8000: reset", "read tcp [host]->[host]: reset"],
    ["a host before an arrow", "redis:6379->db.internal->x", "[host]->[host]->x"],
    [
      "an address as a value",
      "addr=10.1.2.3:8000 address:10.0.0.5 ip=10.0.0.5",
      "addr=[host] address:[host] ip=[host]",
    ],
    ["an address within a word", "10.0.0.5-node x_10.0.0.5_y ip-10-0-0-5", "[host] [host] [host]"],
    ["an IPv6 address", "addr:fe80::1%eth0 fe80::1%eth0 ip=2001:db8::7,", "addr:[host] [host] ip=[host],"],
    ["a long IPv6 address", "to 2001:db8:0:0:0:0:0:17 [fe80::1%eth0]:80 ::ffff:10.0.0.1", "to [host] [host] [host]"],
    ["a host as a value", "host=gpu-9.cluster.local host:gpu-9.svc:80", "host=[host] host:[host]"],
    ["a URL as a value", "url=http://gpu-9:80/x base:https://a.b/c", "url=[url] base:[url]"],
    [
      "a path as a value",
      "file=/etc/vllm/config.yaml model_path=/srv/m cwd=C:/srv/x",
      "file=[path] model_path=[path] cwd=C:[path]",
    ],
    ["a path behind a colon", "file:/etc/passwd open:~/x/y in:../x/y", "file:[path] open:[path] in:[path]"],
    ["a line of source as a value", "file=serving_chat.py:412", "file=[path]"],
    ["an id of letters", "org-abcdefghij proj_abcDEF id=org-abcdefghij", "[redacted] [redacted] id=[redacted]"],
    ["a key behind a colon", "user:sk-abcdef x/hf_abcdef", "user:[redacted] [redacted]"],
    ["somebody at a host", "root@gpu-9:22 root@10.0.0.1:22 who=ops@acme.dev", "root@[host] [redacted] who=[redacted]"],
    ["a configured label before an arrow", "vllm-7->x x->vllm-7", "[redacted]->x x->[redacted]"],
    ["a person", "ask ops.team@acme.example now", "ask [redacted] now"],
  ])("is taken out: %s", (_name, text, expected) => {
    expectWords(told(text), expected);
  });

  it.each([
    "X-Api-Key: opensesame was refused by kube-node.intra",
    '{"client_secret":"cs9cs9"} and password is opensesame',
    "The password is opensesame, the host is kube-node, who asks is Cs9cs9",
    "pin 482913 of otp 482913: cs9cs9",
    "The pin is 482913 and the otp was: 482913, on kube-node at 482913",
    "std::kube_node::run and 温度 opensesame; cs9cs9.",
  ])("is taken out whatever it looks like: %s", (text) => {
    for (const keys of [[], ["a-secret-key", "the-password-of"]]) {
      const answer = redact(text, { ...base, secrets: () => ({ keys }) });
      expect(answer).not.toMatch(/sesame|kube|intra|cs9|482913|温度/i);
      expect(redactKeys(text, () => ({ keys }))).not.toMatch(/Key: opensesame|"cs9/);
    }
  });

  it("are words that stand in no error about a request, but at a vendor's own server plain ones stay", () => {
    const text = "The banana of a request may not be yellow: see platform.openai.com, sk-ab12cd34 and tenant-7.";
    expect(told(text)).toBe("The [redacted] of a request may not be [redacted]: see [redacted] and [redacted].");
    const vendors = redact(text, { ...base, secrets: () => ({ isVendor: true }) });
    expect(vendors).toBe("The banana of a request may not be yellow: see [redacted] and [redacted].");
  });

  it("leave no text of which little is left", () => {
    expect(told("kube-node said opensesame to cs9cs9 and banana")).toBe("");
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
    expectWords(told(text), expected);
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
      { numRuns: Number(process.env["FC_RUNS"] ?? 500) },
    );
  });

  it("no host, address, path or key gets out of which nobody has told, whatever stands before and behind it", () => {
    const separator = fc.constantFrom(
      "=",
      ":",
      "->",
      "@",
      "/",
      '"',
      "'",
      "`",
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      "<",
      ">",
      " ",
    );
    const octet = fc.integer({ min: 0, max: 255 });
    const v4 = fc.tuple(fc.integer({ min: 10, max: 255 }), octet, octet, octet).map((octets) => octets.join("."));
    const group = pick("0123456789abcdef", 1, 4);
    const v6 = fc.oneof(
      fc
        .tuple(fc.array(group, { minLength: 2, maxLength: 4 }), group)
        .map(([all, last]) => `${all.join(":")}::${last}`),
      fc.array(group, { minLength: 8, maxLength: 8 }).map((all) => all.join(":")),
    );
    const zoned = fc.tuple(v6, fc.constantFrom("", "%eth0", "%en-1")).map((parts) => parts.join(""));
    const owned = fc
      .tuple(
        fc.array(label, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("internal", "svc.cluster.local", "lan", "io"),
      )
      .map(([labels, domain]) => `${labels.join(".")}.${domain}`);
    const withPort = fc
      .tuple(fc.oneof(owned, v4, label), fc.integer({ min: 1000, max: 65_535 }))
      .map((all) => all.join(":"));
    const file = fc.tuple(path, fc.constantFrom("", ".yaml", "/x.bin")).map((parts) => `/srv${parts.join("")}`);
    const unknownKey = fc
      .tuple(fc.constantFrom("sk-", "gsk_", "hf_", "sk-or-v1-"), pick(`${letters}${digits}`, 20, 40))
      .map((parts) => parts.join(""));
    const kinds = fc.oneof(owned, withPort, v4, zoned, file, unknownKey);
    const names = fc.constantFrom("", "addr", "x", "read tcp ", "model_path", "a=b", "1", "messages[0]", "max_tokens");
    const items = fc.array(fc.tuple(names, separator, kinds, separator), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(items, (all) => {
        const text = all.map((parts) => parts.join("")).join("");
        const answer = redact(text, { upstreamModel: "up-model", model: "acme/small" });
        // A port, or the slash before a path, tells nothing; a path behind a slash that a word has before it is a relative one.
        for (const [, , whole] of all) {
          const telling = whole.replace(/:\d{4,5}$/, "").replace(/^\/srv/, "");
          expect([text, answer, answer.includes(telling)]).toEqual([text, answer, false]);
        }
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 500) },
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

it.each([
  "pass=xyzzy1abc",
  "passphrase: xyzzy1abc",
  "authorization: Token xyzzy1abc",
  'Authorization="Basic xyzzy1abc"',
])("what follows a name of secrets does not get out: %s", (text) => {
  expect(told(`refused, ${text} is wrong`)).not.toContain("xyzzy1");
});

it("a name before a port that may begin an address is a host", () => {
  expect(told("=aaaaa-00:1000::/srv/aaaaa-00==10.0.0.0=")).not.toContain("aaaaa-00");
});

it("a host that is cut off with a long text does not get out in part", () => {
  const url = `https://example.org/${"x".repeat(40)} `;
  for (let shown = 1; shown < 30; shown++) {
    const before = url.repeat(200).slice(0, 8192 - shown - 1);
    const answer = told(`${before} vllm-7.gpu.acme.example:8000 is full`);
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
    ".",
    "a=",
    "->",
    "a:b:",
    "://",
    "a+://",
    "f::",
    "1:",
    "1.",
    "fe80::1%",
    "%a",
    "org-",
    "org-a",
    "=/",
    "//",
    "~/",
    ".py",
    "/a",
    "@a.",
    "-",
    "_",
    "ip-1",
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
