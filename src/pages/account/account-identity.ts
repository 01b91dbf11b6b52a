import * as z from "zod";
import { checkIdentity } from "../../gateway/host-session/check-identity.js";
import type { Identity } from "../../gateway/host-session/identity.js";

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
