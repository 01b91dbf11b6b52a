import type { RequestCompleted } from "./request-completed.js";

/** Whether a request is an error of the gateway or its model servers. A refusal is the client's fault, and a client that leaves is none. A stream that broke off has status 200. */
export function isFailure({ status, errorCode, endReason }: RequestCompleted): boolean {
  return status >= 500 || (status === 200 && errorCode !== undefined && endReason !== "client_gone");
}
