import { describe, expect, it } from "vitest";
import { HoldRoom } from "../../../src/access/hold-room.js";
import type { AccountCredits, WindowState } from "../../../src/ledger/credit-ledger.js";

const none = { limitMicro: null, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null };
const stateOf = (own: Partial<WindowState>): WindowState => ({ ...none, ...own });
const creditsOf = (own: Partial<AccountCredits["windows"]>, prepaid?: AccountCredits["prepaid"]): AccountCredits => ({
  windows: { session: none, week: none, month: none, ...own },
  prepaid,
});

describe("HoldRoom", () => {
  it("has none before a reservation was seen", () => {
    expect(new HoldRoom().take(1)).toBe(false);
  });

  it("lets a sixteenth of what the tightest window has left be held, with what is held already", () => {
    const room = new HoldRoom();
    const session = stateOf({ limitMicro: 1000, usedMicro: 300, bonusMicro: 100, heldMicro: 20 });
    room.learn(creditsOf({ session, month: stateOf({ limitMicro: 1_000_000 }) }));
    // (1000 + 100 - 300) / 16 - 20
    expect(room.take(31)).toBe(false);
    expect(room.take(30)).toBe(true);
    expect(room.take(1)).toBe(false);
  });

  it("follows the last reservation", () => {
    const room = new HoldRoom();
    room.learn(creditsOf({ month: stateOf({ limitMicro: 1600 }) }));
    expect([room.take(60), room.take(60)]).toEqual([true, false]);
    room.learn(creditsOf({ month: stateOf({ limitMicro: 1600, usedMicro: 10 }) }));
    expect(room.take(60)).toBe(true);
    room.learn(creditsOf({ month: stateOf({ limitMicro: 1600, usedMicro: 1700 }) }));
    expect(room.take(0)).toBe(false);
  });

  it("counts what is on its way to a ledger elsewhere until that has answered", () => {
    const room = new HoldRoom();
    const credits = creditsOf({ month: stateOf({ limitMicro: 1600 }) });
    room.depart(60);
    room.learn(credits);
    expect([room.take(41), room.take(40)]).toEqual([false, true]);
    room.arrive(60);
    room.learn(credits);
    expect(room.take(100)).toBe(true);
  });

  it("lets all be held where nothing is limited, and nothing where credits are prepaid", () => {
    const room = new HoldRoom();
    room.learn(creditsOf({}));
    expect([room.take(1e15), room.take(1e15)]).toEqual([true, true]);
    room.learn(creditsOf({}, { balanceMicro: 1e12, heldMicro: 0, overdrawnMicro: 0 } as AccountCredits["prepaid"]));
    expect(room.take(1)).toBe(false);
  });
});
