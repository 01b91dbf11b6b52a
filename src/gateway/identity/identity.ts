import * as z from "zod";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/text-schemas.js";
import type { HostRequest } from "../../http/host-request.js";
import type { CorsOptions } from "../../http/origin.js";
import type { ReturnedTags } from "../../prices/tags.js";
import { keyAccount, keyTags, wholeInstant } from "../../records/keys/check-key.js";
import type { Instant } from "../../records/keys/key-store.js";

/** Who a request is from: what {@link GatewayOptions.identify} finds. */
export interface Identity {
  /**
   * The account whose credits the request uses. At most 128 characters, well-formed Unicode without control characters.
   * What a missing value becomes as a text, such as `"undefined"`, is refused.
   */
  account: string;
  /**
   * Id of the account's plan. It counts for accounts without a record in `accounts`: where there is a record, its plan and
   * its anchor count, and what is given here does not. A difference is a warning `terms_differ`.
   * Default: the one of the account's keys, which is looked up for each request.
   */
  plan?: string | undefined;
  /**
   * Where the account's weeks and months begin; `null`: Monday and the first of the month. It counts where `plan` does.
   * Default: as its keys have it; with `plan` and no keys, the default of `null`.
   */
  anchor?: Instant | null | undefined;
  /**
   * What its calls are filed under in the journal, in usage and in events, such as `{ member: user.id }`: at most 16, with the
   * names and values that `onRequest` may give. Default: nothing.
   */
  tags?: ReturnedTags | undefined;
  /** What people call the account. The gateway's endpoints do not use it. */
  name?: string | undefined;
  /** The language of the person, such as `de-AT` (BCP 47). The gateway's endpoints do not use it. */
  locale?: string | undefined;
}

/** What {@link GatewayOptions.identify} answers with: falsy where nobody is signed in. */
export type Identified = Identity | null | undefined | false;

/**
 * Finds who a request is from.
 *
 * @typeParam Raw - what the host's framework calls a request.
 */
export type Identify<Raw = unknown> = (request: HostRequest<Raw>) => Identified | Promise<Identified>;

/** What a host's missing value becomes when it is put into a text: with it, all such users would share one account. */
const missingValue = /^(?:undefined|null|NaN|\[object \w+\])$/;

const isFilled = (text: string): boolean => !missingValue.test(text);
const error = 'is the text of a missing value, such as "undefined"';

/** What only people read, such as a name, is no reason to refuse a request. */
const identitySchema = z.object({
  account: keyAccount.refine(isFilled, { error }),
  plan: idText().refine(isFilled, { error }).optional(),
  anchor: wholeInstant,
  tags: keyTags,
});

/** An identity that was checked. */
export type CheckedIdentity = z.output<typeof identitySchema>;

/** Checks what `identify` found. Ignores further members. @throws TypeError that says what does not fit. */
export function checkIdentity(found: unknown): CheckedIdentity {
  return checkInput("identify", identitySchema, found);
}

/** What in the options about sessions contradicts itself. */
export function sessionProblems({
  identify,
  origins,
  cors,
}: {
  readonly identify?: unknown;
  readonly origins?: unknown;
  readonly cors?: CorsOptions | undefined;
}): string[] {
  if (identify === undefined) {
    return origins === undefined ? [] : ["`origins` is for `identify`, which is not given. For CORS, use `cors`."];
  }
  if (cors !== true) return [];
  return [
    "`cors: true` lets the pages of every site in, which does not go with `identify`. " +
      'Name the origins: cors: { origins: ["https://app.example.com"] }.',
  ];
}
