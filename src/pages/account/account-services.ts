import type { Gateway } from "../../gateway/gateway.js";
import type { Clock } from "../../ledger/clock.js";
import type { ReaderKeys } from "./reader-keys.js";

/** What the routes of the account page work with. */
export interface AccountServices {
  readonly gateway: Gateway;
  readonly keys: ReaderKeys;
  readonly clock: Clock;
  /** The tag that tells members apart. */
  readonly memberTag: string;
}
