import type { KeyState } from "../server/key-state.js";

/**
 * Amounts are credits with all their decimals, instants epoch seconds. What is not there is `null`. Plans and models are as
 * `createGateway` and its stores have them.
 */

/** Who reads the operator's page, and how this process is. */
export interface OperatorHealth {
  readonly operator: string;
  /** Nothing can be changed. */
  readonly read_only: boolean;
  /** Whether the page lists live requests. */
  readonly live: boolean;
  readonly now: number;
  readonly models: readonly {
    readonly id: string;
    /** Whether a target can take a call now. */
    readonly available: boolean;
    /** Requests that wait for a target. */
    readonly queued: number;
  }[];
  readonly targets: readonly OperatorTarget[];
  readonly ledgers: readonly OperatorLedger[];
  /** `null`: requests are not logged. */
  readonly request_log: { readonly waiting: number; readonly dropped: number } | null;
  /** Changes that the audit trail did not keep. */
  readonly audit_lost: number;
}

/** A target of a model, as this process sees it. */
export interface OperatorTarget {
  readonly model: string;
  /** The provider's name in the options, and the upstream's name for the model. */
  readonly provider: string;
  readonly upstream: string;
  readonly state: "closed" | "open" | "half_open" | "resting";
  readonly active: number;
  readonly answered: number;
  readonly failed: number;
  /** Of the latest calls, 0 to 1. `null`: it has no breaker. */
  readonly failure_rate: number | null;
  readonly available_at: number | null;
}

/** The ledger, or a shard of it, as this process sees it. */
export interface OperatorLedger {
  readonly shard: string | null;
  /** Since when it does not answer. */
  readonly down_since: number | null;
  readonly outages: number;
  readonly last_outage: { readonly from: number; readonly to: number } | null;
  /** Charges that wait for it in this process, and since when. */
  readonly kept: number;
  readonly kept_since: number | null;
  /** Charges that will never reach it. */
  readonly lost: number;
}

/** What was used of what is alike in the things that were asked for. */
export interface OperatorUsage {
  /** What is alike: `account`, `plan`, `model`, `target`, `key`, `funding`, and tags as `tag.member`. */
  readonly by: Readonly<Record<string, string | null>>;
  /** An hour or a day, as clocks of the time zone show it. `null`: all of the time. */
  readonly period: { readonly name: string; readonly from: number; readonly to: number } | null;
  readonly requests: number;
  readonly credits: number;
  /** What the calls with a known cost have cost. `null`: there are none. */
  readonly cost: number | null;
  /** What of `credits` these calls were charged, and what is left of it: `margin = costed − cost`. */
  readonly costed: number | null;
  readonly margin: number | null;
  readonly tokens: {
    readonly input: number;
    readonly cached: number;
    readonly cache_write: number;
    readonly output: number;
    readonly reasoning: number;
  };
  /** What is counted beside tokens: images, milliseconds of audio, characters that were spoken, and searches. */
  readonly units: {
    readonly images: number;
    readonly audio_ms: number;
    readonly characters: number;
    readonly searches: number;
  };
  /** `null`: requests are not logged. */
  readonly refusals: number | null;
  readonly failures: number | null;
}

/** How long it took until the first output, of the latest requests that were answered. */
export interface FirstOutput {
  readonly p50_ms: number;
  readonly p95_ms: number;
  /** How many requests they are of, and since when. */
  readonly requests: number;
  readonly from: number;
}

/** A day so far. */
export interface OperatorOverview {
  readonly from: number;
  readonly now: number;
  readonly today: OperatorUsage;
  /** The same time of the day before. */
  readonly before: OperatorUsage;
  readonly hours: readonly OperatorUsage[];
  /** Those that charged the most, ten at most. */
  readonly models: readonly OperatorUsage[];
  /** `null`: requests are not logged, or there were none. */
  readonly first_output: FirstOutput | null;
}

/** Usage and speed of targets, which {@link OperatorHealth} has the state of. */
export interface OperatorTargets {
  readonly from: number;
  readonly to: number;
  readonly data: readonly {
    /** The provider and the upstream's name, such as `openai/gpt-4o-mini`. */
    readonly target: string;
    readonly usage: OperatorUsage | null;
    readonly first_output: FirstOutput | null;
  }[];
}

/** A window of an account. */
export interface OperatorWindow {
  /** With what was granted. `null`: unlimited. */
  readonly limit: number | null;
  readonly bonus: number;
  readonly used: number;
  readonly held: number;
  readonly remaining: number | null;
  readonly resets_at: number | null;
}

/** What an account has left. */
export interface OperatorBalance {
  readonly plan: string;
  readonly session: OperatorWindow;
  readonly week: OperatorWindow;
  readonly month: OperatorWindow;
  /** `null`: it has never had any. */
  readonly prepaid: {
    /** Negative where it owes. */
    readonly balance: number;
    readonly held: number;
    readonly lots: readonly { readonly expires_at: number | null; readonly left: number }[];
  } | null;
}

/** The record of an account. */
export interface OperatorAccountRecord {
  readonly plan: string;
  readonly status: "active" | "suspended";
  /** What clients of a suspended account read. */
  readonly message: string | null;
  readonly models: readonly string[] | null;
  readonly price_factor: number | null;
  /** Where its weeks and months begin. */
  readonly anchor: number | null;
  readonly rates: Readonly<Record<string, unknown>> | null;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  /** For `if-match`. `null`: the store keeps none. */
  readonly version: string | null;
}

/** An account in the list. */
export interface OperatorListedAccount {
  readonly id: string;
  /** `null`: its terms are those of its keys. */
  readonly record: OperatorAccountRecord | null;
  /** `null`: its plan does not exist, or the ledger is away. */
  readonly balance: OperatorBalance | null;
}

/** One account. */
export interface OperatorAccount extends OperatorListedAccount {
  /** The newest first, 100 at most. */
  readonly keys: readonly OperatorKey[];
  /** Its own budgets, 100 at most; `null`: the gateway keeps none, or they cannot be read. */
  readonly budgets:
    | readonly { readonly tag: string; readonly value: string | null; readonly status: "active" | "suspended" }[]
    | null;
  /** The newest lines of its journal; `null`: the ledger keeps none, or does not answer. */
  readonly entries: readonly OperatorEntry[] | null;
}

/** A line of a journal. */
export interface OperatorEntry {
  readonly id: string;
  readonly at: number;
  readonly kind: string;
  readonly credits: number;
  /** What of `credits` prepaid ones paid. */
  readonly prepaid: number;
  readonly tags: Readonly<Record<string, string | number>>;
}

/** A key, with whose it is. Its secret is nowhere. */
export interface OperatorKey {
  readonly id: string;
  readonly account: string;
  readonly plan: string | null;
  readonly name: string | null;
  readonly hint: string;
  readonly state: KeyState;
  readonly models: readonly string[] | null;
  readonly credits: Readonly<Record<string, number | null>> | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

/** A plan, with its version for `if-match`. */
export interface OperatorPlan {
  readonly id: string;
  readonly version: string;
  readonly plan: OperatorPlanData;
}

/** A plan as its store has it. */
export interface OperatorPlanData {
  readonly id: string;
  readonly models: readonly string[];
  readonly credits?: Readonly<Partial<Record<"session" | "week" | "month", number | null>>> | null;
  readonly priceFactor?: number | null;
  readonly [member: string]: unknown;
}

/** What a change would do. */
export interface OperatorCheck {
  /** Empty: it would be taken. */
  readonly problems: readonly string[];
  /** What may not be as it is meant. It would be taken all the same. */
  readonly warnings: readonly string[];
  /** Members that would change, with what they are and would be. */
  readonly changes: readonly { readonly member: string; readonly before?: unknown; readonly after?: unknown }[];
  /** Of a plan: the models that it would let in. */
  readonly models: readonly string[] | null;
}

/** A model as `createGateway` takes it, as far as it is data. */
export interface OperatorModelData {
  readonly id: string;
  /** Such as `chat`. */
  readonly type: string;
  readonly aliases?: readonly string[];
  readonly contextLength?: number;
  readonly maxOutputTokens?: number;
  /** Credits per million tokens, and others by their units. */
  readonly price: Readonly<Partial<Record<"input" | "cachedInput" | "output", number>>> &
    Readonly<Record<string, unknown>>;
  readonly upstream: OperatorModelTarget | readonly OperatorModelTarget[];
  readonly [member: string]: unknown;
}

/** Where a model is called. */
export interface OperatorModelTarget {
  readonly provider: string;
  readonly model: string;
  readonly [member: string]: unknown;
}

/** A model, in force or not. */
export interface OperatorModel {
  readonly id: string;
  /** As it is in force; `null`: it is out of service. */
  readonly model: OperatorModelData | null;
  readonly source: "options" | "store" | null;
  /** The store's entry, be it in force or not. */
  readonly entry: Readonly<Record<string, unknown>> | null;
  /** Of the store's entry, for `if-match`. `null`: there is none. */
  readonly version: string | null;
  /** Why the entry is not in force. */
  readonly problem: string | null;
}

/** A request, however it ended. */
export interface OperatorRequest {
  readonly id: string;
  readonly at: number;
  readonly endpoint: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly key: string | null;
  readonly source: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly model: string | null;
  /** What the client called it by, if that is another name. */
  readonly requested_model: string | null;
  readonly target: string | null;
  readonly stream: boolean;
  readonly status: number;
  readonly code: string | null;
  readonly end: string | null;
  /** The response was kept from an earlier call. */
  readonly cached: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly credits: number;
  readonly cost: number | null;
  readonly duration_ms: number;
  readonly first_output_ms: number | null;
  /** How many requests the line stands for. */
  readonly count: number;
  readonly attempts: readonly {
    readonly provider: string;
    readonly model: string;
    readonly status: number | null;
    readonly outcome: string;
    readonly started_ms: number;
    readonly duration_ms: number;
    readonly upstream_request_id: string | null;
  }[];
}

/** What this process is serving, and what has failed lately. */
export interface OperatorLive {
  /** With those that are not listed. */
  readonly count: number;
  readonly requests: readonly {
    readonly id: string;
    readonly endpoint: string;
    readonly at: number;
    readonly elapsed_ms: number;
    readonly state: "checking" | "calling" | "streaming";
    readonly account: string | null;
    readonly key: string | null;
    readonly model: string | null;
    readonly stream: boolean | null;
    readonly held: number | null;
    readonly target: string | null;
    readonly attempt: number | null;
  }[];
  /** The newest first. */
  readonly failures: readonly Omit<OperatorRequest, "count">[];
}

/** A change that the audit trail has. */
export interface OperatorAuditEntry {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  /** `unknown`: a store failed, so that all, some or nothing of it was done. */
  readonly outcome: "done" | "unknown";
  readonly by: string | null;
  readonly note: string | null;
  readonly account: string | null;
  readonly moved_to: string | null;
  readonly key: string | null;
  readonly plan: string | null;
  readonly model: string | null;
  readonly budget: string | null;
  readonly given: Readonly<Record<string, unknown>> | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** A page of what is listed. */
export interface OperatorList<Item> {
  readonly data: readonly Item[];
  /** For the next page; `null`: there is none. */
  readonly next: string | null;
}

/** A body of `POST account/top-up` and `POST account/deduct`. */
export interface OperatorCredits {
  /** The same id is booked once. */
  readonly id: string;
  readonly credits: number;
  /** Of a top-up. */
  readonly expires_at?: number | null;
  readonly note?: string;
}

/** A body of `POST account/grant`. */
export interface OperatorGrant {
  /** The same id is booked once. */
  readonly id: string;
  readonly window: "session" | "week" | "month";
  /** Negative: a correction. */
  readonly credits: number;
  readonly note?: string;
}

/**
 * The routes of the operator's page below `api/`: what they respond with. Ids stand in the query, as in `account?id=acme`: many
 * have slashes.
 */
export interface OperatorPageApi {
  readonly "GET health": OperatorHealth;
  readonly "GET overview": OperatorOverview;
  /** `more`: how many further sums there are. */
  readonly "GET usage": OperatorList<OperatorUsage> & { readonly more: number };
  readonly "GET targets": OperatorTargets;
  readonly "GET accounts": OperatorList<OperatorListedAccount>;
  readonly "POST accounts": OperatorAccount;
  readonly "GET account": OperatorAccount;
  readonly "PATCH account": OperatorAccount;
  readonly "GET account/history": OperatorList<OperatorEntry>;
  readonly "POST account/suspend": OperatorAccount;
  readonly "POST account/resume": OperatorAccount;
  readonly "POST account/top-up": OperatorAccount;
  readonly "POST account/deduct": OperatorAccount;
  readonly "POST account/grant": OperatorAccount;
  readonly "POST account/reset": OperatorAccount;
  readonly "GET key": OperatorKey;
  readonly "PATCH key": OperatorKey;
  readonly "POST key/revoke": OperatorKey;
  readonly "GET plans": OperatorList<OperatorPlan>;
  readonly "POST plans/check": OperatorCheck;
  readonly "PUT plan": OperatorPlan;
  readonly "POST plan/remove": { readonly removed: boolean };
  readonly "GET models": OperatorList<OperatorModel> & { readonly editable: boolean };
  readonly "POST models/check": OperatorCheck;
  readonly "PUT model": OperatorModel;
  readonly "POST model/remove": { readonly removed: boolean };
  readonly "GET requests": OperatorList<OperatorRequest>;
  readonly "GET request": OperatorRequest;
  readonly "GET live": OperatorLive;
  readonly "GET audit": OperatorList<OperatorAuditEntry>;
}
