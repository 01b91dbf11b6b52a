import type { KeyState } from "../server/key-state.js";

/** Amounts are credits with all their decimals, instants epoch seconds. What is not there is `null`. */

/** Something that limits what can be called. */
export interface AccountMeter {
  /** Unique on the page. */
  readonly id: string;
  /** `window`: of the account's plan. `prepaid`: what was bought. `budget`: of calls with a tag. `key`: of calls with a key. */
  readonly kind: "window" | "prepaid" | "budget" | "key";
  readonly window: "session" | "day" | "week" | "month" | "total" | null;
  /** The tag of a budget, and its value. */
  readonly tag: string | null;
  readonly value: string | null;
  /** With what was granted. `null`: unlimited, and of prepaid credits, which have no limit. */
  readonly limit: number | null;
  /** What of `limit` was granted on top of the plan's. */
  readonly bonus: number;
  readonly used: number;
  /** What calls in progress hold. */
  readonly held: number;
  /** Never below 0. `null`: unlimited. */
  readonly remaining: number | null;
  /** When it is full again; of prepaid credits, when the first of them expire. `null`: never, or it has not begun. */
  readonly resets_at: number | null;
}

/** Who reads the page, and what is left. */
export interface AccountMe {
  readonly account: string;
  readonly name: string | null;
  readonly role: "owner" | "member";
  /** What the reader's own calls carry. */
  readonly tags: Readonly<Record<string, string>>;
  readonly plan: string;
  readonly now: number;
  /** `false`: the gateway of this process is being closed, and takes no more calls. */
  readonly ready: boolean;
  /** `suspended`: every call gets a 403. */
  readonly status: "active" | "suspended";
  /** Why, in the operator's words. */
  readonly message: string | null;
  /** An owner's: the account's. A member's: those of their tags, and of the account only what is used up. */
  readonly meters: readonly AccountMeter[];
  /** The id of the meter that ends first; `null`: nothing limits. */
  readonly binding: string | null;
  /** Nothing is left of `binding`: calls are refused until it resets. */
  readonly blocked: boolean;
  /** What the account owes: it has spent more prepaid credits than it had. */
  readonly debt: number;
  readonly keys: {
    /** Of the account, and how many it may have. A member's: their own, until the account has as many as it may have. */
    readonly in_force: number;
    readonly max: number;
    /** Of those, the ones that the reader sees. */
    readonly own: number;
  };
  readonly can: { readonly change_keys: boolean; readonly try_models: boolean };
}

/** What a key may cost. */
export interface AccountKeyCredits {
  readonly day?: number | null;
  readonly week?: number | null;
  readonly month?: number | null;
  readonly total?: number | null;
}

/** A key on the account page. */
export interface AccountKey {
  readonly id: string;
  readonly name: string | null;
  /** Its first and last characters. */
  readonly hint: string;
  readonly state: KeyState;
  /** What its calls are filed under. */
  readonly tags: Readonly<Record<string, string>>;
  /** What narrows the models of the plan; `null`: all of them. */
  readonly models: readonly string[] | null;
  readonly credits: AccountKeyCredits | null;
  /** One for each of `credits`. `null`: what is used cannot be told at the moment. */
  readonly meters: readonly AccountMeter[] | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

/** A new key with its secret, which is in no other answer. */
export interface NewAccountKey extends AccountKey {
  readonly secret: string;
}

/** A body of `POST keys`, and, with `enabled`, of `PATCH keys/{id}`, where all is optional. */
export interface AccountKeyInput {
  readonly name: string;
  readonly expires_at?: number | null;
  readonly models?: readonly string[] | null;
  readonly tags?: Readonly<Record<string, string>>;
  readonly credits?: AccountKeyCredits | null;
}

/** What was used of what is alike in the things that were asked for. */
export interface AccountUsage {
  /** What is alike: `model`, `key`, `funding`, and tags as `tag.member`. `null`: what has no such thing. */
  readonly by: Readonly<Record<string, string | null>>;
  /** An hour or a day, as clocks of the time zone show it. `null`: all of the time. */
  readonly period: { readonly name: string; readonly from: number; readonly to: number } | null;
  readonly requests: number;
  readonly credits: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** `null`: requests are not logged. */
  readonly refusals: number | null;
  readonly failures: number | null;
}

/** A request, however it ended. */
export interface AccountRequest {
  readonly id: string;
  readonly at: number;
  readonly endpoint: string | null;
  readonly model: string | null;
  /** The id of the key. `null`: a session, or a call of the app. */
  readonly key: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly stream: boolean;
  readonly status: number;
  /** Why it was refused, or failed. */
  readonly code: string | null;
  /** The response was kept from an earlier call. */
  readonly cached: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly credits: number;
  readonly duration_ms: number;
  /** How many requests the line stands for. */
  readonly count: number;
}

/** What became of the account's credits in a time: `opening + bought − used − expired − taken_back = closing`. */
export interface AccountBill {
  readonly from: number | null;
  readonly to: number;
  readonly prepaid: {
    readonly opening: number;
    readonly bought: number;
    readonly used: number;
    readonly expired: number;
    readonly taken_back: number;
    readonly closing: number;
  };
  readonly plan: { readonly used: number; readonly granted: number };
}

/** A model that the account may call. Prices are credits per million tokens, and `request` credits a call. */
export interface AccountModel {
  readonly id: string;
  /** As `GET /v1/models` has it, such as `chat`. */
  readonly type: string;
  readonly publisher: string | null;
  /** `null`: nothing is known of it, as of models that draw or speak. */
  readonly context_length: number | null;
  readonly max_output_tokens: number | null;
  readonly price: {
    /** `null`, as of the others: it has no price of its own. */
    readonly input: number | null;
    readonly cached_input: number | null;
    readonly output: number | null;
    readonly request: number | null;
    /** What else has a price of its own. */
    readonly others: readonly AccountPricePart[];
  } | null;
}

/** A part of a price. */
export interface AccountPricePart {
  /**
   * As the members of a `Price`, in snake case: such as `cache_write`, `audio_minute`, and `characters`, of which the price is
   * that of a million; of `searches`, that of a thousand. `image`: of one that is made.
   */
  readonly part: string;
  /**
   * Of an image, its quality and size, as far as the price is for these alone. Of tokens, the calls that it is for: `>200000`,
   * where their prompts have more tokens than that, and their tier, such as `priority` or `priority >200000`.
   */
  readonly of: string | null;
  readonly credits: number;
}

/** A member of the account. */
export interface AccountMember {
  /** The value of the tag that tells members apart. */
  readonly value: string;
  /** Since `from` of the list. */
  readonly requests: number;
  readonly credits: number;
  readonly status: "active" | "suspended";
  readonly meters: readonly AccountMeter[];
}

/** A page of what is listed. */
export interface AccountList<Item> {
  readonly data: readonly Item[];
  /** For the next page; `null`: there is none. */
  readonly next: string | null;
}

/** A body of `POST try`. */
export interface AccountTrial {
  readonly model: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
}

/** The routes of the account page below `api/`: what they respond with. `POST try` streams as `POST /v1/chat/completions` does. */
export interface AccountPageApi {
  readonly "GET me": AccountMe;
  readonly "GET keys": AccountList<AccountKey>;
  readonly "POST keys": NewAccountKey;
  readonly "PATCH keys/{id}": AccountKey;
  readonly "POST keys/{id}/rotate": NewAccountKey;
  readonly "POST keys/{id}/revoke": AccountKey;
  readonly "GET usage": AccountList<AccountUsage>;
  readonly "GET requests": AccountList<AccountRequest>;
  readonly "GET statement": AccountBill;
  readonly "GET models": AccountList<AccountModel>;
  readonly "GET members": AccountList<AccountMember> & { readonly tag: string; readonly from: number };
  /** What a call cost, by the `x-request-id` of its response; `null`: it is not settled yet. */
  readonly "GET charges/{id}": { readonly credits: number | null };
}
