import { describe, expect, it } from "vitest";
import { BackgroundWork } from "../../../src/runtime/background-work.js";
import { createGate } from "../../../src/testing.js";

/** Whether it has ended by now. */
async function hasEnded(work: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void work.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return ended;
}

describe("background work", () => {
  it("is waited for by its owners, also what begins meanwhile, and by nobody else", async () => {
    const background = new BackgroundWork();
    const [mine, others] = [createGate(), createGate()];
    background.add(
      mine.pass().then(() => background.add(mine.pass(), "mine")),
      "mine",
    );
    background.add(others.pass(), "other");
    background.add(others.pass());
    const [of, idle] = [background.of("mine", "nobody"), background.idle()];
    mine.step();
    expect([await hasEnded(of), await hasEnded(background.of("nobody"))]).toEqual([false, true]);
    mine.step();
    expect([await hasEnded(of), await hasEnded(idle)]).toEqual([true, false]);
    others.open();
    expect(await hasEnded(idle)).toBe(true);
  });

  it("may fail, which is whose it is to deal with", async () => {
    const background = new BackgroundWork();
    background.add(Promise.reject(new Error("down")), "mine");
    await background.of("mine");
    await background.idle();
  });
});
