import * as z from "zod";
import type { Warn } from "../../events/warning.js";
import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import { refusedUnknownAccount, UnknownTermsError } from "../../gateway/admin/errors.js";
import type { Gateway } from "../../gateway/gateway.js";
import { checkIdentity, type Identity } from "../../gateway/identity/identity.js";
import type { KeptAccount } from "../../records/accounts/account-store.js";
import { accountRecord, type PageRoute } from "../server/page-route.js";

/** Who reads an account page. */
export interface AccountIdentity extends Identity {
  /**
   * An `owner` sees and changes all of the account; a `member` only what carries every one of their own `tags`, of which a
   * member must have one at least. Default: `owner` without `tags`, `member` with them.
   */
  role?: "owner" | "member" | undefined;
}

/** An identity of which the check has been made. */
export interface Reader {
  readonly account: string;
  readonly plan: string | undefined;
  readonly anchor: number | null | undefined;
  /** Of a member, what they see carries these. Of an owner, their own calls do. */
  readonly tags: Readonly<Record<string, string>>;
  readonly role: "owner" | "member";
  readonly name: string | undefined;
  readonly locale: string | undefined;
}

const furtherSchema = z.object({
  role: z.enum(["owner", "member"], { error: 'must be "owner" or "member"' }).optional(),
  name: z.string().max(200).optional().catch(undefined),
  locale: z
    .string()
    .regex(/^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i)
    .optional()
    .catch(undefined),
});

/** @throws TypeError that says what does not fit. */
export function checkReader(found: unknown): Reader {
  const { account, plan, anchor, tags: given } = checkIdentity(found);
  const tags = given ?? {};
  const further = furtherSchema.safeParse(found);
  if (!further.success) throw new TypeError('identify: role: must be "owner" or "member"');
  const isTagged = Object.keys(tags).length > 0;
  const { role = isTagged ? "member" : "owner", name, locale } = further.data;
  if (role === "member" && !isTagged) throw new TypeError("identify: tags: a member must have one at least");
  return { account, plan, anchor, tags, role, name, locale };
}

/** The terms of a reader's account, where the host has given some. Its record counts before them. */
export async function readerTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  if (reader.plan === undefined && reader.anchor === undefined) return {};
  return readerTermsBeside(await accountRecord(gateway, reader.account), reader);
}

/** The same, where the record has been read. */
export function readerTermsBeside(record: KeptAccount | undefined, { plan, anchor }: Reader): AccountTerms {
  return record === undefined && (plan !== undefined || anchor !== undefined) ? { plan, anchor } : {};
}

/** What a new key of the account says of its terms: nothing where the account has a record. */
export async function keyTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  const { account, anchor } = reader;
  if ((await accountRecord(gateway, account)) !== undefined) return {};
  const { plan } = await gateway.accounts.balance(account, { plan: reader.plan, anchor });
  return { plan, anchor };
}

/** A reader whose account has no plan gets what its calls would get: only the host can mend that, and is told how. */
export function refuseWithoutPlan(route: PageRoute<Reader>, warnOnce: Warn): PageRoute<Reader> {
  return {
    ...route,
    async answer(call) {
      try {
        return await route.answer(call);
      } catch (thrown) {
        if (!(thrown instanceof UnknownTermsError)) throw thrown;
        throw refusedUnknownAccount(thrown, call.identity.account, warnOnce);
      }
    },
  };
}
