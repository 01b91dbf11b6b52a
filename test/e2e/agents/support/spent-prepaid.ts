import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import type { AgentSession } from "./agent-session.js";

/** The plan of the sessions' account, which then lives on prepaid credits. */
export const payAsYouGo = memoryPlanStore({ pro: { models: ["*"], credits: { month: 0 } } });

/** It has had some, and has none any more. */
export async function spendPrepaid({ server }: AgentSession): Promise<void> {
  const { accounts } = server.gateway;
  await accounts.topUp("acct_pro", { id: "payment_1", credits: 5 });
  await accounts.deduct("acct_pro", { id: "refund_1", credits: 5 });
}
