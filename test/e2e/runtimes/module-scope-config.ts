import type { GatewayOptions, Model } from "infergate";

/** What the Worker's gateway is made of; as JSON, in its environment. */
export interface ModuleScopeConfig {
  readonly upstream: string;
  /** The URL of `startStoreServer`. */
  readonly stores: string;
  readonly model: Model;
  readonly options: Pick<GatewayOptions, "maxStallMs" | "ledgerOptions">;
}
