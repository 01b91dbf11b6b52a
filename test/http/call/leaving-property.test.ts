import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { compilePrice } from "../../../src/prices/compile-price.js";
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamFailure,
  type UpstreamProvider,
} from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { chatAnswer, chatChunks } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

/** What one target does with a call. Before each step the client may leave. */
interface Behaviour {
  /** How long each step takes, in milliseconds. */
  stepMs: number;
  end:
    | { kind: "fails"; failure: UpstreamFailure }
    | { kind: "throws" }
    | { kind: "status"; status: number }
    | { kind: "answers"; usage: boolean }
    | { kind: "hangs" }
    | { kind: "hangs in the answer" }
    | { kind: "breaks off" };
}

interface Script {
  targets: Behaviour[];
  stream: boolean;
  reasons: boolean;
  chargeFailedAttempts: boolean;
  disconnect: "cancel" | "drain";
  /** The step before which the client leaves, of all targets together. */
  leavesAt: number;
  how: "aborts the request" | "cancels the body";
  heedsSignal: boolean;
}

const maxTokens = 60;
const drainMs = 5000;
const reported = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };
const prices = { input: 3, cachedInput: 1, output: 10, reasoning: 20, request: 0.000005 };

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  stepMs: fc.constantFrom(0, 1, 700, 30_000),
  end: fc.oneof(
    fc
      .constantFrom<UpstreamFailure>("unreachable", "timeout", "interrupted", "aborted")
      .map((failure) => ({ kind: "fails" as const, failure })),
    fc.constant({ kind: "throws" as const }),
    fc.constantFrom(400, 429, 500).map((status) => ({ kind: "status" as const, status })),
    fc.boolean().map((usage) => ({ kind: "answers" as const, usage })),
    fc.constantFrom({ kind: "hangs" as const }, { kind: "hangs in the answer" as const }),
    fc.constant({ kind: "breaks off" as const }),
  ),
});

const script: fc.Arbitrary<Script> = fc.record({
  targets: fc.array(behaviour, { minLength: 1, maxLength: 3 }),
  stream: fc.boolean(),
  reasons: fc.boolean(),
  chargeFailedAttempts: fc.boolean(),
  disconnect: fc.constantFrom("cancel", "drain"),
  leavesAt: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 25 })),
  how: fc.constantFrom("aborts the request", "cancels the body"),
  heedsSignal: fc.boolean(),
});

afterEach(() => {
  vi.useRealTimers();
});

const first = { chargeFailedAttempts: false, leavesAt: 0, how: "aborts the request", heedsSignal: true } as const;

/** At least one for each finding, since chance need not come by. */
const examples: [Script][] = [
  { ...first, targets: [{ stepMs: 1, end: { kind: "answers", usage: true } }], leavesAt: 99 },
  { ...first, targets: [{ stepMs: 1, end: { kind: "status", status: 500 } }], leavesAt: 99 },
  { ...first, targets: [{ stepMs: 30_000, end: { kind: "hangs" } }], reasons: true },
  { ...first, targets: [{ stepMs: 1, end: { kind: "fails", failure: "unreachable" } }], disconnect: "drain" },
  {
    ...first,
    targets: [{ stepMs: 1, end: { kind: "fails", failure: "unreachable" } }],
    disconnect: "drain",
    stream: true,
  },
].map((given) => [{ stream: false, reasons: false, disconnect: "cancel", ...given } as Script]);

it("whatever the upstream does and whenever the client leaves, a call is settled once, for no less than what was handed over and no more than what was held", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(script, async (given) => {
      const run = new Run(given);
      await run.play();
      for (const found of run.findings) seen.add(found);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 60), examples },
  );
  // Else the property says less than it seems to.
  expect([...seen].sort()).toEqual(
    ["answered", "failed", "left after the hand-over", "left, then never reached", "paid for hidden output"].sort(),
  );
});

/** One script, played by providers of the host's own, for whom a call is handed over when it is made. */
class Run {
  readonly findings = new Set<string>();
  readonly #script: Script;
  readonly #clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly #leaving = new AbortController();
  #cancelBody: (() => Promise<void>) | undefined;
  #steps = 0;
  #hasLeft = false;
  /** Attempts that were under way when the client left, or have begun since. */
  #handed = false;
  #isUnreached = false;
  #isUnderWay = false;
  /** What still hangs must not move the next script's time. */
  #isOver = false;

  constructor(given: Script) {
    this.#script = given;
  }

  async play(): Promise<void> {
    const { targets, reasons, disconnect, chargeFailedAttempts, stream } = this.#script;
    const books = memoryCreditLedger({ clock: this.#clock });
    let held = 0;
    const ends: string[] = [];
    const providers = Object.fromEntries(
      targets.map((target, index) => [`p${index}`, this.#provider(target)] as const),
    );
    const upstream = targets.map((_target, index) => ({ provider: `p${index}`, model: `m${index}` }));
    const model: Model = {
      ...smallModel,
      price: prices,
      capabilities: { reasoning: reasons },
      upstream,
      disconnect: disconnect === "cancel" ? disconnect : { maxMs: drainMs },
      maxAttempts: targets.length,
      chargeFailedAttempts,
    };
    const test = await startTestGateway({
      clock: this.#clock,
      models: [model],
      providers,
      ledger: {
        ...books,
        reserve: async (request) => {
          held = request.amountMicro;
          return books.reserve(request);
        },
        settle: async (...settled) => {
          ends.push("settle");
          return books.settle(...settled);
        },
        release: async (lease) => {
          ends.push("release");
          return books.release(lease);
        },
      },
    });
    // A drain must not end before its script does.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const completed = test.nextEvent();
    const { signal } = this.#leaving;
    const response = await test.gateway.handler(
      new Request(chatRequest({ stream, max_tokens: maxTokens }), { signal }),
    );
    await this.#read(response);
    const event = await completed;
    this.#isOver = true;
    const limits = windowLimits({
      credits: { session: 100e6, week: null, month: null },
      sessionMs: 18_000_000,
      now: this.#clock.now(),
    });
    const { session } = (await books.balance("acct_pro", limits)).windows;
    vi.useRealTimers();
    await test.close();

    expect(test.events).toHaveLength(1);
    expect(ends).toHaveLength(1);
    expect({ used: session.usedMicro, held: session.heldMicro }).toEqual({ used: event.chargedMicro, held: 0 });
    const price = compilePrice(prices);
    // What failed targets report is charged besides, where that is asked for, and held.
    const ofOne = held / (chargeFailedAttempts ? targets.length : 1);
    const prompt = Math.floor((ofOne - price.upperBound(0, maxTokens)) / prices.input);
    const leastMicro = price.cost({ input: prompt, cachedInput: 0, output: 0, reasoning: 0 });
    const isReported = event.usageSource === "provider";
    const failures = chargeFailedAttempts ? targets.length : 0;
    const reportedMicro = failures * price.cost({ input: 9, cachedInput: 0, output: 7, reasoning: 0 });
    if (!isReported) expect(event.chargedMicro).toBeLessThanOrEqual(held);
    if (!this.#hasLeft) {
      this.findings.add(event.endReason === "completed" ? "answered" : "failed");
      return;
    }
    if (this.#handed && !this.#isUnreached) {
      this.findings.add("left after the hand-over");
      if (!isReported) expect(event.chargedMicro).toBeGreaterThanOrEqual(leastMicro);
      expect(event.chargedMicro).toBeGreaterThan(0);
    } else {
      this.findings.add("left, then never reached");
      // What a target before the last one reported is charged, where that is asked for.
      if (failures === 0) expect([event.chargedMicro, event.usageSource]).toEqual([0, undefined]);
      expect(event.chargedMicro).toBeLessThanOrEqual(reportedMicro);
    }
    const { output, reasoning } = event.tokens;
    if (event.usageSource === "partial" && reasoning > 0) {
      this.findings.add("paid for hidden output");
      expect(reasons && output <= maxTokens + failures * 7).toBe(true);
    }
  }

  async #read(response: Response): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    this.#cancelBody = () => reader.cancel();
    try {
      while (!(await reader.read()).done);
    } catch {
      // Aborted.
    }
  }

  /** @returns when whoever had to learn of it has. */
  async #step({ stepMs }: Behaviour): Promise<void> {
    this.#clock.advance(stepMs);
    if (this.#steps++ === this.#script.leavesAt) await this.#leave();
    await turns();
  }

  async #leave(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#handed = this.#isUnderWay;
    if (this.#script.how === "cancels the body" && this.#cancelBody !== undefined) await this.#cancelBody();
    else this.#leaving.abort();
    await turns();
  }

  #provider(behaviour: Behaviour): UpstreamProvider {
    return {
      call: async (call) => {
        this.#isUnderWay = true;
        try {
          return await this.#answer(behaviour, call);
        } catch (error) {
          // With "cancel" the call is settled before this becomes known.
          const isUnreached = error instanceof UpstreamError && error.failure === "unreachable";
          if (this.#hasLeft && isUnreached && this.#script.disconnect === "drain") this.#isUnreached = true;
          this.#isUnderWay = false;
          throw error;
        }
      },
    };
  }

  async #answer(behaviour: Behaviour, call: UpstreamCall) {
    const { end } = behaviour;
    await this.#step(behaviour);
    if (end.kind === "hangs") await this.#hang(call);
    if (end.kind === "fails") throw new UpstreamError(end.failure, "It failed.");
    if (end.kind === "throws") throw new Error("A bug of the host's.");
    if (end.kind === "status") {
      this.#isUnderWay = this.#hasLeft;
      const error = { error: { message: "No." }, usage: reported };
      return { status: end.status, headers: {}, body: bytesOf([JSON.stringify(error)]) };
    }
    return { status: 200, headers: {}, body: this.#body(behaviour, call) };
  }

  async *#body(behaviour: Behaviour, call: UpstreamCall): AsyncGenerator<Uint8Array> {
    const { end } = behaviour;
    const usage = end.kind === "answers" && end.usage ? reported : null;
    const texts = call.stream
      ? [...chatChunks("Hello brave new world", { usage }), "[DONE]"].map(
          (chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`,
        )
      : cut(JSON.stringify(chatAnswer({ content: "Hello brave new world", usage })), 60);
    const last = end.kind === "answers" ? texts.length : Math.floor(texts.length / 2);
    for (const text of texts.slice(0, last)) {
      await this.#step(behaviour);
      if (this.#script.heedsSignal && call.signal.aborted) throw new UpstreamError("aborted", "Aborted.");
      yield Buffer.from(text);
    }
    await this.#step(behaviour);
    if (end.kind === "hangs in the answer") await this.#hang(call);
    if (end.kind === "breaks off") throw new UpstreamError("interrupted", "It broke off.");
    this.#isUnderWay = this.#hasLeft;
  }

  /** Until the gateway breaks it off; the client does not wait for it. */
  async #hang(call: UpstreamCall): Promise<never> {
    const aborted = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    await this.#leave();
    if (!this.#isOver) vi.advanceTimersByTime(drainMs);
    if (!call.signal.aborted) await aborted;
    throw new UpstreamError("aborted", "Aborted.");
  }
}

function cut(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += length) pieces.push(text.slice(start, start + length));
  return pieces;
}

async function* bytesOf(texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
