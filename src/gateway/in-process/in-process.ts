import type { Rates } from "../../prices/rates.js";
import type { ReturnedTags } from "../../prices/tags.js";
import type { Instant } from "../../records/keys/key-store.js";
import type { UsageReport } from "../../server/usage-report.js";

/** Whose calls they are that the host's own code makes: what {@link Gateway.as} takes. */
export interface InProcessCaller {
  /** The account whose credits they use. At most 128 characters, well-formed Unicode without control characters. */
  account: string;
  /**
   * Id of the plan of these calls. Your own code decides: it counts in place of the plan of the account's record.
   * Default: that of the account's record, else of its keys, looked up for each call.
   */
  plan?: string | undefined;
  /**
   * Where the account's weeks and months begin; `null`: Monday and the first of the month. Default: as its record has it, else its keys;
   * with `plan` and no keys, the default of `null`.
   */
  anchor?: Instant | null | undefined;
  /** Exact model ids or `*` patterns that narrow the plan. Default: all of the plan's. */
  models?: readonly string[] | null | undefined;
  /** What the journal files the charges under, in place of a key's id. Default: `server`. */
  key?: string | undefined;
  /**
   * What all of its calls are filed under, as by `onRequest`, whose tags come before these. At most 16. Default: nothing.
   */
  tags?: ReturnedTags | null | undefined;
  /** Of an identity: not used. */
  name?: string | undefined;
  /** Of an identity: not used. */
  locale?: string | undefined;
  /** Rate limits, beside those of its plan and account. Counted for all calls of the same `key`. Default: none. */
  rates?: Rates | null | undefined;
  /** Ends all of its calls when it is aborted: they reject with its `reason`. */
  signal?: AbortSignal | undefined;
}

/** Calls the gateway from within its process. It holds no secret. */
export interface InProcess {
  /**
   * For SDKs: `http://infergate.invalid/v1`, whatever `basePath` is. Anthropic's SDK takes its origin, as
   * `new URL(baseURL).origin`. Nothing else can reach it.
   */
  readonly baseURL: string;
  /**
   * A `fetch` that sends requests to the gateway and to nothing else. An `Authorization` header is ignored. Errors of the
   * gateway are responses, as SDKs expect. Of a URL, only the origin is compared with that of `baseURL`: every path of the
   * gateway can be called, such as `/healthz`, and any other path is the gateway's 404. Once a signal of the call or of its
   * caller is aborted, it rejects with the signal's `reason`, and the body of a stream fails with it, as with the `fetch` of
   * the platform. Where a store of keys or accounts fails, or takes longer than `storeTimeoutMs`, the response is a 503. For
   * an account that is not there, it is the 403 `account_without_plan` that its keys would get, with a warning
   * `unknown_account`; for one whose keys differ, a 400 that says what to pass.
   * @throws TypeError for a URL of another origin, of which nothing is sent.
   */
  readonly fetch: typeof globalThis.fetch;
  /** The account's credits, as `GET /v1/usage` gives them. @throws GatewayError of the response, such as a 403 or 503. */
  usage(): Promise<UsageReport>;
}
