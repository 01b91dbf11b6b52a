import type { GatewayResponse } from "../../http/message.js";

/** A target's response that the host's guards hold back. No other target is tried after it. */
export interface HeldResponse {
  /** @throws GatewayError, or {@link UpstreamError} `aborted`. */
  whenReviewed(): Promise<GatewayResponse>;
}
