import type { Gateway } from "../../gateway/gateway.js";
import type { LiveRequests } from "../../gateway/observers/live-requests.js";
import type { Clock } from "../../ledger/clock.js";
import type { checkOperator } from "./operator-identity.js";

/** An identity of which the check has been made. */
export type Operator = ReturnType<typeof checkOperator>;

/** What the routes of the operator's page work with. */
export interface OperatorServices {
  readonly gateway: Gateway;
  readonly clock: Clock;
  /** `undefined`: the page lists no live requests. */
  readonly live: LiveRequests | undefined;
  readonly readOnly: boolean;
}
