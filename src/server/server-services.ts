import type { Lookup } from "../access/cached-lookup.js";
import type { Caller, IdentifiedCaller } from "../access/caller.js";
import type { ResolveCaller } from "../access/caller-resolver.js";
import type { KeyUses } from "../access/key-uses.js";
import type { CallServices } from "../call/call-services.js";
import type { ObserveRequest } from "../events/request-observer.js";
import type { GatewayRequest, RequestHead } from "../http/message.js";
import type { CorsOptions } from "../http/origin.js";
import type { AccountPace } from "./account-pace.js";
import type { HostWait } from "./host-wait.js";
import type { Readiness } from "./readiness.js";
import type { RefusalWords } from "./refusal-words.js";

/** What all requests use. Made once for each gateway. */
export interface ServerServices {
  readonly calls: CallServices;
  readonly findCaller: Lookup<IdentifiedCaller>;
  /** Of the keys that the gateway makes. */
  readonly keyPrefix: string;
  /** Keeps when keys were used. Absent: the key store cannot. */
  readonly keyUses: KeyUses | undefined;
  /** Finds who a request without an API key is from. Absent: such requests are refused. */
  readonly identifyCaller: IdentifyCaller | undefined;
  /** Gives callers the terms of their accounts. */
  readonly resolveCaller: ResolveCaller;
  /** `undefined`: nobody looks on. */
  readonly observe: ObserveRequest | undefined;
  /** Looks on for a host alone that waits for the request's work. */
  readonly observeEnd: ObserveRequest;
  readonly hostWait: HostWait;
  readonly cors: CorsOptions | undefined;
  /** How often accounts may have tokens counted, which is free of charge. */
  readonly countPace: AccountPace;
  /** How often accounts may read kept responses, which is free of charge. */
  readonly readPace: AccountPace;
  readonly readiness: Readiness;
  /** Gives the host's own id of a request. */
  readonly requestIdOf: ((request: RequestHead) => string | undefined) | undefined;
  /** `undefined`: people read the gateway's own words. */
  readonly refusalWords: RefusalWords | undefined;
}

/** What of a request says who it is from. */
export type SessionRequest = Pick<GatewayRequest, "method" | "header" | "hostRequest" | "isBodyTaken">;

/** @returns `undefined` when the host does not know the request either. Rejects with a 403 or a 503. */
export type IdentifyCaller = (request: SessionRequest, requestId: string) => Promise<Caller | undefined>;
