import type { TimeLimit } from "../guard/time-limit.js";
import type { OnRequest } from "../hooks/admission.js";

/** The host's hook before each call, and how long it may take. */
export interface RequestHook {
  readonly onRequest: OnRequest;
  readonly limit: TimeLimit;
}
