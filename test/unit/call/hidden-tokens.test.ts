import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hiddenTokens, Meter, type MeteredCall } from "../../../src/call/meter.js";
import { OutputFlow } from "../../../src/call/relay/output-flow.js";
import { ChatProgress } from "../../../src/protocols/chat/chat-progress.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";

describe("the bound of hidden output", () => {
  it("takes 200 tokens a second where nothing has come", () => {
    expect(hiddenTokens({ seen: 0, elapsedMs: 30_000, flowMs: 0, cap: 100_000 })).toBe(6000);
  });

  it("takes the model's own rate once a second of output has come", () => {
    // 50 tokens a second: 30 s of thought, then 4 s of answer.
    expect(hiddenTokens({ seen: 200, elapsedMs: 34_000, flowMs: 4000, cap: 100_000 })).toBe(1500);
    // A second is too little to tell anything by less than it.
    expect(hiddenTokens({ seen: 40, elapsedMs: 30_999, flowMs: 999, cap: 100_000 })).toBe(6200 - 40);
  });

  it("is the rest of the cap at most, and nothing where more than the cap was seen", () => {
    expect(hiddenTokens({ seen: 100, elapsedMs: 600_000, flowMs: 0, cap: 4096 })).toBe(3996);
    expect(hiddenTokens({ seen: 5000, elapsedMs: 600_000, flowMs: 0, cap: 4096 })).toBe(0);
  });

  it("is nothing where the model wrote all the time, or the clock went back", () => {
    expect(hiddenTokens({ seen: 500, elapsedMs: 10_000, flowMs: 10_000, cap: 4096 })).toBe(0);
    expect(hiddenTokens({ seen: 0, elapsedMs: -5, flowMs: 0, cap: 4096 })).toBe(0);
  });

  it("is a count within the cap, and grows with the time", () => {
    const count = fc.integer({ min: 0, max: 1e7 });
    fc.assert(
      fc.property(count, count, count, count, count, (seen, elapsedMs, moreMs, flowMs, cap) => {
        const hidden = hiddenTokens({ seen, elapsedMs, flowMs, cap });
        expect(Number.isSafeInteger(hidden) && hidden >= 0).toBe(true);
        expect(seen + hidden).toBeLessThanOrEqual(Math.max(seen, cap));
        expect(hiddenTokens({ seen, elapsedMs: elapsedMs + moreMs, flowMs, cap })).toBeGreaterThanOrEqual(hidden);
      }),
    );
  });
});

describe("the time in which output comes", () => {
  const start = (isOn = true) => {
    const clock = new ManualClock(1e12);
    const flow = new OutputFlow(clock, isOn);
    let seen = 0;
    /** A read that takes so long, and brings so much. */
    const read = (ms: number, tokens: number, reasons = false) => {
      flow.asked();
      clock.advance(ms);
      seen += tokens;
      flow.came({ seenOutput: seen, reasons, isComplete: false });
    };
    return { clock, flow, read };
  };

  it("begins with the first output, and leaves pauses out", () => {
    const { flow, read } = start();
    read(20_000, 0);
    read(5000, 3);
    read(50, 3);
    read(2000, 1);
    read(2001, 1);
    read(30_000, 5);
    expect(flow.ms).toBe(2050);
  });

  it("is not made longer by signs of life that bring nothing", () => {
    const { flow, read } = start();
    read(10, 1);
    for (let index = 0; index < 100; index++) read(1000, 0);
    expect(flow.ms).toBe(0);
  });

  it("is measured from where the model shows that it reasons", () => {
    const { flow, read } = start(false);
    read(10, 1);
    read(10, 1);
    read(10, 1, true);
    read(50, 1);
    read(50, 1);
    expect(flow.ms).toBe(100);
  });

  it("is not made longer by a client that reads slowly, nor by a clock that goes back", () => {
    const { clock, flow, read } = start();
    read(10, 1);
    for (let index = 0; index < 10; index++) {
      clock.advance(1500);
      read(1, 10);
    }
    read(-5, 10);
    expect(flow.ms).toBe(10);
  });
});

describe("the bill of a client that has left", () => {
  /** A model that reasons writes a word within a second, and says whether that is all. Then the client leaves. */
  function billAfter(waitMs: number, isComplete: boolean) {
    const clock = new ManualClock(1e12);
    const demand = {
      promptTokens: 1,
      heldPromptTokens: 1,
      promptBound: undefined,
      outputTokens: 100_000,
      addedCap: undefined,
    };
    const request = { asksToReason: () => true } as MeteredCall["request"];
    const meter = new Meter({ request, demand, model: { reasons: true } }, clock);
    const progress = new ChatProgress({ promptTokens: 1, outputCap: 100_000 });
    meter.handedOver();
    const flow = meter.follow(progress);
    flow.asked();
    clock.advance(1000);
    progress.choiceBegan();
    progress.outputOf(0).addText("word");
    if (isComplete) progress.choiceFinished();
    flow.came(progress);
    clock.advance(waitMs);
    flow.came(progress);
    return meter.bill("client_gone", true)?.tokens.output;
  }

  it("has no hidden output of the time in which only the usage is waited for", () => {
    expect(billAfter(0, true)).toBe(200);
    expect(billAfter(5000, true)).toBe(200);
    expect(billAfter(5000, false)).toBe(1200);
  });
});
