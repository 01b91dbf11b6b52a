import type { WindowName, WindowState, WindowStates } from "../../ledger/credit-ledger.js";
import type { PrepaidState } from "../../ledger/prepaid-state.js";
import { remaining } from "../../ledger/remaining.js";
import type { Micro } from "../../metering/micro.js";

/** One window of an account. Amounts are micro-credits, instants epoch milliseconds. */
export interface AccountWindow extends WindowState {
  /** `limitMicro` + `bonusMicro` − `usedMicro`, never below 0; `null`: unlimited. */
  remainingMicro: Micro | null;
}

/** The credits of an account under its plan. */
export interface AccountBalance {
  account: string;
  plan: string;
  windows: Readonly<Record<WindowName, AccountWindow>>;
  /** The prepaid credits, in micro-credits. Absent where it has never had any. */
  prepaid?: PrepaidState;
}

export function toAccountWindows({ session, week, month }: WindowStates): AccountBalance["windows"] {
  return { session: withRest(session), week: withRest(week), month: withRest(month) };
}

function withRest(state: WindowState): AccountWindow {
  return { ...state, remainingMicro: remaining(state) };
}
