import type { WindowState, WindowStates } from "../credit-ledger.js";

const unknown: WindowState = Object.freeze({
  limitMicro: null,
  usedMicro: 0,
  heldMicro: 0,
  bonusMicro: 0,
  startsAt: null,
  resetsAt: null,
});

/** The windows of an account whose ledger is away. Its credits are not known, so no limit is shown. */
export const unknownStates: WindowStates = Object.freeze({ session: unknown, week: unknown, month: unknown });
