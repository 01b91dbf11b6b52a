import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { GuardedResponse, ResponseGuard } from "../../../../src/hooks/response-guard.js";
import { chatAnswer, chatChunks, createGate, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { bodyFor, type GuardedServer, passing, refusing, saying, startGuardedServer } from "./start-guarded-server.js";

const secret = { text: "The SECRET is out" };

/** A guard that may return and throw anything. */
const anyGuard = (
  answer: (answer: GuardedResponse) => unknown,
  members: Partial<ResponseGuard> = {},
): ResponseGuard => ({
  name: "any",
  answer: answer as ResponseGuard["answer"],
  ...members,
});

const ask = (server: GuardedServer, members: object = {}, init?: RequestInit) =>
  server.post("chat/completions", bodyFor("chat/completions", "chat", members), init);

describe("the texts that a guard sees", () => {
  const choice = (index: number, delta: object, reason: string | null = null) => ({
    id: "chatcmpl-1",
    created: 1,
    model: "m",
    choices: [{ index, delta, finish_reason: reason }],
  });

  it("are put together from their pieces, of all choices, thoughts and calls", async () => {
    const seen: GuardedResponse[] = [];
    const server = await startGuardedServer([anyGuard((answer) => void seen.push(answer))]);
    const call = (members: object) => ({ tool_calls: [{ index: 0, ...members }] });
    server.model.reply(
      eventStream([
        choice(0, { role: "assistant", content: "" }),
        choice(1, { role: "assistant", content: "Hel" }),
        choice(0, { reasoning_content: "SEC" }),
        choice(0, { reasoning_content: "RET" }),
        choice(1, { content: "lo" }),
        choice(0, { content: "S", refusal: "n" }),
        choice(0, call({ id: "call_1", type: "function", function: { name: "find", arguments: '{"q":"SE' } })),
        choice(0, { refusal: "o" }),
        choice(0, call({ function: { arguments: 'CRET"}' } })),
        choice(0, { content: "ECRET" }),
        choice(0, {}, "tool_calls"),
        choice(1, {}, "stop"),
      ]),
    );
    await (await ask(server, { stream: true, n: 2 })).text();
    expect(Object.fromEntries(seen[0]?.texts.map(({ path, text }) => [path, text]) ?? [])).toEqual({
      "choices[0].message.reasoning_content": "SECRET",
      "choices[0].message.content": "SECRET",
      "choices[0].message.refusal": "no",
      "choices[0].message.tool_calls[0].function.name": "find",
      "choices[0].message.tool_calls[0].function.arguments": '{"q":"SECRET"}',
      "choices[1].message.content": "Hello",
    });
    expect(seen[0]?.finishReasons).toEqual(["tool_calls", "stop"]);
    expect(seen[0]?.usage).toBeUndefined();
  });

  it("refuses all choices for one of them", async () => {
    const server = await startGuardedServer([refusing]);
    const message = (content: string) => ({ role: "assistant", content, refusal: null });
    const choices = ["fine", "SECRET"].map((text, index) => ({ index, message: message(text), finish_reason: "stop" }));
    server.model.reply(wholeAnswer({ ...chatAnswer(), choices }));
    const said = (await (await ask(server, { n: 2 })).json()) as { choices: object[] };
    const refused = { message: { content: null, refusal: "Not this." }, finish_reason: "content_filter" };
    expect(said.choices).toMatchObject([
      { index: 0, ...refused },
      { index: 1, ...refused },
    ]);
    expect(JSON.stringify(said)).not.toContain("fine");
  });
});

describe("several guards", () => {
  it("are asked at once, and the first in their order refuses", async () => {
    const begun: string[] = [];
    const late = createGate();
    const slow = anyGuard(
      async () => {
        begun.push("slow");
        await late.pass();
        return { refuse: "Slow says no." };
      },
      { name: "slow" },
    );
    const quick = anyGuard(
      () => {
        begun.push("quick");
        late.open();
        return { refuse: "Quick says no." };
      },
      { name: "quick" },
    );
    const server = await startGuardedServer([slow, quick]);
    const said = await (await ask(server)).json();
    expect(begun).toEqual(["slow", "quick"]);
    expect(said).toMatchObject({ choices: [{ message: { refusal: "Slow says no." } }] });
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({
      tags: { guard: "slow" },
      guards: [
        { name: "slow", verdict: "refused" },
        { name: "quick", verdict: "refused" },
      ],
    });
  });

  it("refuse in spite of one that fails", async () => {
    const failing = anyGuard(() => Promise.reject(new Error("down")));
    const server = await startGuardedServer([failing, refusing]);
    server.model.reply(saying(secret));
    expect(await (await ask(server)).json()).toMatchObject({ choices: [{ finish_reason: "content_filter" }] });
  });

  it("tag the call, beside the tags that it has", async () => {
    const server = await startGuardedServer(
      [anyGuard(({ tags }) => ({ tags: { topic: `${tags["team"]}-cats` } })), { ...passing, name: "other" }],
      { onRequest: () => ({ tags: { team: "search" } }) },
    );
    await (await ask(server)).text();
    await server.checkBooks();
    expect(server.events[0]).toMatchObject({ tags: { team: "search", topic: "search-cats" } });
    const { entries } = await server.gateway.accounts.history("acct_pro");
    expect(entries).toMatchObject([{ tags: { "tag.team": "search", "tag.topic": "search-cats" } }]);
  });

  it("are for some calls only where they say so", async () => {
    const when = vi.fn(({ stream }: { stream: boolean }) => stream);
    const server = await startGuardedServer([{ ...refusing, when }]);
    server.model.reply(saying(secret));
    expect(await (await ask(server)).text()).toContain("SECRET");
    expect(await (await ask(server, { stream: true })).text()).not.toContain("SECRET");
    expect(when.mock.calls[0]).toMatchObject([{ account: "acct_pro", endpoint: "chat/completions" }]);
    when.mockImplementation(() => {
      throw new Error("down");
    });
    expect(await (await ask(server)).text()).not.toContain("SECRET");
    expect(server.warnings).toMatchObject([{ code: "hook_failed" }]);
  });
});

const failing: Record<string, (answer: GuardedResponse) => unknown> = {
  "throws an error": () => {
    throw new Error("secret detail");
  },
  "throws nothing at all": () => {
    // biome-ignore lint/style/useThrowOnlyError: a guard may
    throw undefined;
  },
  rejects: () => Promise.reject(new Error("secret detail")),
  "returns null": () => null,
  "returns true": () => true,
  "misspells a member": () => ({ refused: "No." }),
  "refuses without words": () => ({ refuse: "" }),
  "refuses and tags": () => ({ refuse: "No.", tags: { a: "b" } }),
  "has a code that is none": () => ({ refuse: "No.", code: "a b" }),
  "has a tag of the gateway's": () => ({ tags: { guard: "x" } }),
  "has members that throw": () => ({
    get refuse() {
      throw new Error("secret detail");
    },
  }),
  "is a promise that throws": () => ({
    // biome-ignore lint/suspicious/noThenProperty: a guard may
    then() {
      throw new Error("secret detail");
    },
  }),
};

describe("a guard that fails", () => {
  it.each(Object.entries(failing))("%s: a 503 without a reason, and the call is charged", async (_, answer) => {
    const server = await startGuardedServer([anyGuard(answer)]);
    for (const stream of [false, true]) {
      const response = await ask(server, { stream });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
      expect(response.headers.get("x-should-retry")).toBeNull();
      expect(response.headers.get("x-ratelimit-limit-session")).toBe("100");
      const text = await response.text();
      expect(JSON.parse(text).error.code).toBe("service_unavailable");
      expect(text).not.toMatch(/secret|Hello|any|member/);
    }
    await server.checkBooks();
    expect(server.events).toMatchObject(
      [false, true].map((stream) => ({
        stream,
        status: 503,
        errorCode: "service_unavailable",
        endReason: "completed",
        chargedMicro: 39,
        guards: [{ name: "any", verdict: "failed" }],
        attempts: [{ outcome: "completed", status: 200 }],
      })),
    );
    expect(server.warnings.map(({ code }) => code)).toEqual(["hook_failed", "hook_failed"]);
    expect(server.warnings[0]).toHaveProperty("cause");
  });

  it("lets answers go out where it is to allow them", async () => {
    const server = await startGuardedServer([anyGuard(() => null, { onError: "allow" })]);
    for (const stream of [false, true]) {
      const response = await ask(server, { stream });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain("Hello");
    }
    expect(server.warnings).toMatchObject([{ code: "hook_failed" }, { code: "hook_failed" }]);
  });

  it("hangs: its signal is aborted when its time is over, and its late failure harms nothing", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const stream of [false, true]) {
      const called = createGate();
      const late = createGate();
      let signal: AbortSignal | undefined;
      const guard = anyGuard(
        async (answer) => {
          signal = answer.signal;
          called.open();
          await late.pass();
          throw new Error("too late");
        },
        { timeoutMs: 500 },
      );
      const server = await startGuardedServer([guard, { ...passing, timeoutMs: 10_000 }]);
      const response = ask(server, { stream });
      await called.pass();
      await vi.advanceTimersByTimeAsync(400);
      expect(signal?.aborted).toBe(false);
      await vi.advanceTimersByTimeAsync(200);
      expect((await response).status).toBe(503);
      expect(signal?.aborted).toBe(true);
      expect(server.warnings).toMatchObject([{ code: "hook_failed", cause: { name: "TimeLimitError" } }]);
      late.open();
    }
  });
});

describe("options of guards", () => {
  const invalid: [string, unknown, RegExp][] = [
    ["no list", {}, /guards/],
    ["no name", [{ answer: () => {} }], /guards\[0\]\.name/],
    ["a name that no tag can have", [{ ...passing, name: "a b" }], /guards\[0\]\.name.*letters/],
    ["no function", [{ name: "a" }], /guards\[0\]\.answer: must be a function/],
    ["the same name twice", [passing, passing], /guards\[1\]\.name: repeats "passing": give each guard a name/],
    ["an unknown member", [{ ...passing, onFail: "allow" }], /onFail/],
    ["a mode that is none", [{ ...passing, stream: "pass" }], /guards\[0\]\.stream/],
    ["no time", [{ ...passing, timeoutMs: 0 }], /guards\[0\]\.timeoutMs/],
    ["endless time", [{ ...passing, timeoutMs: Number.POSITIVE_INFINITY }], /guards\[0\]\.timeoutMs/],
    ["an error that is none", [{ ...passing, onError: "pass" }], /guards\[0\]\.onError/],
    ["a condition that is none", [{ ...passing, when: true }], /guards\[0\]\.when: must be a function/],
  ];

  it.each(invalid)("%s: a TypeError that says what to do", async (_, guards, message) => {
    const { createGateway } = await import("../../../../src/gateway/create-gateway.js");
    const { memoryCreditLedger, memoryKeyStore, memoryPlanStore } = await import("../../../../src/index.js");
    const rest = { models: [], keys: memoryKeyStore([]), plans: memoryPlanStore({}), providers: {} };
    const make = () => createGateway({ ...rest, ledger: memoryCreditLedger(), guards: guards as ResponseGuard[] });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it("have no effect where there is none: the stream is not held", async () => {
    const gate = createGate();
    const server = await startGuardedServer([]);
    server.model.reply(eventStream(chatChunks("Hello world"), { gate }));
    const asked = ask(server, { stream: true });
    gate.step(3);
    const reader = (await asked).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("data: ");
    gate.open();
    while (!(await reader?.read())?.done);
  });
});
