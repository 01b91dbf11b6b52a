import type { KeptAccount } from "../../accounts/account-store.js";
import type { Gateway } from "../../gateway/gateway.js";
import { unlessUnsupported } from "./is-unsupported.js";

/** `undefined`: it has none, or the gateway keeps no accounts. */
export async function accountRecord(gateway: Gateway, account: string): Promise<KeptAccount | undefined> {
  return unlessUnsupported(() => gateway.accounts.get(account));
}
