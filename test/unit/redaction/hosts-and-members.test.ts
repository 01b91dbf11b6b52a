import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretName, redact, redactKeys } from "../../../src/redaction/redact.js";

const base = { upstreamModel: "gpt-4.1", model: "acme/small" };
/** Nothing else is there than what is expected, and what stands for the rest. */
function expectWords(answer: string, expected: string): void {
  const left = new Set(expected.split(/[^\p{L}\p{N}]+/u));
  expect(answer.split(/[^\p{L}\p{N}]+/u).filter((word) => !/^(?:redacted)?$/.test(word) && !left.has(word))).toEqual(
    [],
  );
}

const told = (text: string, request?: string) =>
  redact(text, { ...base, ...(request === undefined ? undefined : { request: Buffer.from(request) }) });

describe("secrets in members", () => {
  it.each([
    ["a quote within it", '{"password":"a\\"bcdef"}', '{"password":"[redacted]"}'],
    ["no end", '{"password":"abc\\"', '{"password":"[redacted]"'],
    ["a list around it", '{"access_token": ["abcdef"]}', '{"access_token": ["[redacted]"]}'],
  ])("are taken out with %s", (_what, text, expected) => {
    expect(redactKeys(text, undefined)).toBe(expected);
  });

  it("take no longer with crowds of backslashes", () => {
    for (const each of ["\\", '\\"', "\\\\'"]) {
      expect(told(`{"password":"${each.repeat(2000)}`)).not.toContain("zq");
    }
  });
});

describe("hosts in an upstream's words", () => {
  it.each([
    ["The model is overloaded (via ml.corp.example)", "The model is overloaded (via [host])"],
    ["upstream gw.ml.acme failed", "upstream [host] failed"],
    ["via router.acme: full", "via [host]: full"],
    ["connecting to inference.acme timed out", "connecting to [host] timed out"],
    ["Connecting to gpu7.corp.bank failed", "Connecting to [host] failed"],
    ["connect to GPU7.corp.bank:8000 refused", "connect to [host] refused"],
    ["Host: GPU7.CORP.BANK is down. Via GPU7.corp.bank", "Host: [host] is down. Via [host]"],
    ["getaddrinfo ENOTFOUND ollama", "getaddrinfo ENOTFOUND [host]"],
    ["dial tcp: lookup api on 10.0.0.2: no such host api", "dial tcp: lookup api on [host]: no such host [host]"],
    ["served by xn--bcher-kva.example:8443 and xn--p1ai.xn--p1ai", "served by [host] and [host]"],
    ["from bücher.example and интранет.рф:443", "from [host] and [host]"],
    ["请访问ml.corp.example的日志", "请访问[host]的日志"],
    ["user:pw1@ml.corp.example:8000 said no", "[redacted] said no"],
    ["to [2001:db8::7]:8000 and 2001:db8::7, 10.1.2.3:80", "to [host] and [host], [host]"],
    ["at gpu-1.prod, a.vpn and node-7.k8s:9000", "at [host], [host] and [host]"],
    ["see https://platform.openai.com/docs/models", "see [url]"],
    ["eu.gpu.acme.it is down", "[host] is down"],
  ])("are taken out: %s", (text, expected) => {
    expectWords(told(text), expected);
  });

  it("are told to a client that named them itself", () => {
    const text = "Could not load the image via images.acme.example: 404";
    expect(told(text, JSON.stringify({ url: "https://images.acme.example/a.png" }))).toBe(text);
  });

  it("do not get out in any form, wherever they stand", () => {
    const letters = fc.stringMatching(/^[a-z]{3,8}$/);
    const name = fc
      .tuple(
        fc.array(letters, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("example", "internal", "com", "test", "corp", "de"),
      )
      .map(([labels, domain]) => [...labels.map((label) => `zq${label}`), domain].join("."));
    const puny = letters.map((label) => `xn--zq${label}.acme`);
    const unicode = letters.map((label) => `zq${label}ü.example`);
    const hex = fc.stringMatching(/^[1-9a-f][0-9a-f]{3}$/);
    const v6 = fc.tuple(hex, hex).map(([one, other]) => `2001:db8::${one}:${other}`);
    const v4 = fc.tuple(fc.nat(255), fc.nat(255)).map(([one, other]) => `10.77.${one}.${other}`);
    const port = fc.option(fc.integer({ min: 1024, max: 65_535 }), { nil: undefined });
    const host = fc.oneof(name, puny, unicode, v4);
    const place = fc.oneof(
      fc.tuple(host, port).map(([found, at]) => (at === undefined ? found : `${found}:${at}`)),
      fc.tuple(v6, port).map(([found, at]) => (at === undefined ? found : `[${found}]:${at}`)),
      fc.tuple(name, port).map(([found, at]) => `https://${found}${at === undefined ? "" : `:${at}`}/v1/x?y=z`),
      name.map((found) => `ops:hunter@${found}`),
    );
    const around = fc.constantFrom<[string, string]>(
      ["(via ", ")"],
      ["", ""],
      ["to ", "."],
      ['{"host":"', '"}'],
      ["host=", ","],
      ["upstream ", ": reset"],
      ["connect to ", " failed"],
      ["'", "'"],
    );
    fc.assert(
      fc.property(place, around, (found, [before, behind]) => {
        expect(told(`It failed ${before}${found}${behind}`)).not.toMatch(/zq|10\.77|db8|hunter/);
      }),
      { numRuns: 1000 },
    );
  });
});

const secretNames = [
  ...[
    "access_token",
    "accessToken",
    "refresh_token",
    "id_token",
    "auth-token",
    "token",
    "x-auth-token",
    "bearer_token",
  ],
  ...[
    "api_key",
    "apiKey",
    "apikey",
    "API_KEY",
    "x-api-key",
    "OPENAI_API_KEY",
    "private_key",
    "secret_key",
    "SecretAccessKey",
  ],
  ...[
    "client_secret",
    "clientSecret",
    "secret",
    "password",
    "db.password",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
  ],
  ...["credentials", "authorization", "Authorization", "cookie", "set-cookie", "session_id", "sessionId", "jwt"],
  ...["signature", "sig", "AWSAccessKeyId", "subscription-key", "otp", "hmac"],
];
const plainNames = [
  ...["max_tokens", "prompt_tokens", "total_tokens", "tokens", "token_type", "token_count", "max_token", "eos_token"],
  ...["stop_token", "tokenizer", "key", "primary_key", "keyword", "keys", "prompt_cache_key", "code", "type", "param"],
  ...["message", "session", "monkey", "id", "request_id", "secretary", "design", "author"],
];

describe("secrets by the names of their members", () => {
  it.each(secretNames)("%s is one", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(plainNames)("%s is none", (name) => {
    expect(isSecretName(name)).toBe(false);
    const text = `{"${name}":"low","n":5}`;
    expect(redactKeys(text, undefined)).toBe(text);
  });

  it.each([
    ['{"access_token":"abcdef"}', '{"access_token":"[redacted]"}'],
    [`{'api_key': 'abc', 'n': 5}`, `{'api_key': '[redacted]', 'n': 5}`],
    ['body: {\\"client_secret\\":\\"x\\",\\"a\\":1}', 'body: {\\"client_secret\\":\\"[redacted]\\",\\"a\\":1}'],
    ['{"otp": 482913, "password": "it\'s a secret one"}', '{"otp": [redacted], "password": "[redacted]"}'],
    ['{"token":null,"secret":""}', '{"token":null,"secret":""}'],
    ['{"api_key":"Field required"}', '{"api_key":"Field required"}'],
    ["access_token=abcdef&x=1", "access_token=[redacted]&x=1"],
    ["X-Api-Key: opensesame for kube-node.intra", "X-Api-Key: [redacted] for kube-node.intra"],
  ])("are taken out however short: %s", (text, expected) => {
    expect(redactKeys(text, undefined)).toBe(expected);
    // A part of the name may be one of the key's.
    const keys = ["the-access_token-of", "my-api_key", "a-client_secret", "password-1"];
    expect(redactKeys(text, () => ({ keys }))).not.toMatch(/abc|482913|secret one|opensesame/);
  });

  it("get out under none of these names, in no notation, to clients and in warnings alike", () => {
    const value = fc.stringMatching(/^[A-Za-z0-9!#$%&*+.:;<>?@^_|~-]{1,20}$/).map((text) => `Zq${text}`);
    const notation = fc.constantFrom<(name: string, text: string) => string>(
      (name, text) => JSON.stringify({ a: 1, [name]: text, b: "x" }),
      (name, text) => JSON.stringify({ [name]: text }, undefined, 2),
      (name, text) => JSON.stringify(JSON.stringify({ [name]: text })),
      (name, text) => `{'${name}': '${text}'}`,
      (name, text) => `got "${name}" = "${text}"`,
    );
    fc.assert(
      fc.property(fc.constantFrom(...secretNames), value, notation, (name, text, write) => {
        const message = `The upstream said ${write(name, text)}.`;
        expect(told(message)).not.toContain("Zq");
        expect(redactKeys(message, undefined)).not.toContain("Zq");
      }),
      { numRuns: 1000 },
    );
  });
});
