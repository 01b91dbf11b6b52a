import * as z from "zod";
import type { AuditAuthor } from "../../audit/checked-audit-trail.js";
import { countableCredits } from "../../check/limit-schemas.js";
import { GatewayError } from "../../errors/gateway-error.js";
import type { CreatedKey, ManagedKey } from "../../gateway/admin/managed-keys.js";
import { keyState } from "../server/key-state.js";
import { type PageRoute, pageRoute, toSeconds } from "../server/page-route.js";
import { keyMeters } from "./account-meters.js";
import type { AccountKey, AccountKeyCredits, AccountMeter, NewAccountKey } from "./account-page-api.js";
import { keyTerms, type Reader, readerTerms } from "./reader.js";
import type { AccountServices } from "./reader-keys.js";

/** What moves or hides text, and what is no text. Names are shown to operators, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a name
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

const name = z
  .string()
  .max(1000, "must have at most 64 characters")
  .transform(printable)
  .pipe(z.string().min(1, "must not be empty").max(64, "must have at most 64 characters"));
const seconds = z.number().int().positive().max(8.64e12);
const amount = countableCredits.positive("must be more than 0");
const longestGraceSeconds = 90 * 86_400;

const members = {
  expires_at: seconds.nullish(),
  models: z.array(z.string().min(1).max(256)).min(1, "must name one model at least").max(100).nullish(),
  tags: z.record(z.string(), z.string()).optional(),
  credits: z.strictObject({ day: amount, week: amount, month: amount, total: amount }).partial().nullish(),
};
const newKey = z.strictObject({ name, ...members });
const keyChange = z.strictObject({ name: name.optional(), enabled: z.boolean().optional(), ...members });
const rotation = z.strictObject({ grace_seconds: z.number().int().min(0).max(longestGraceSeconds).default(0) });
const nothing = z.strictObject({});
const page = z.strictObject({
  after: z.string().max(300).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(100),
});

/** How the audit trail names a reader: by what the host says, since people choose their names, and might choose an operator's. */
function authorOf({ name: who = "", account, tags }: Reader): AuditAuthor {
  const person = [printable(who), ...Object.entries(tags).map(([tag, value]) => `${tag}=${value}`)];
  const said = ["on the account page", ...person.filter((part) => part !== "")].join(", ");
  return { by: account, note: printable(said.slice(0, 1000)) };
}

function printable(text: string): string {
  return text.toWellFormed().replace(unprintable, "").trim();
}

export function listKeys(services: AccountServices): PageRoute<Reader> {
  return pageRoute({
    method: "GET",
    path: "keys",
    query: page,
    async answer({ identity, query: { after, limit } }) {
      const all = await services.keys.list(identity);
      const first = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
      const listed = all.slice(first, first + limit);
      const next = first + limit < all.length ? (listed.at(-1)?.id ?? null) : null;
      return { json: { data: await Promise.all(listed.map((key) => toAccountKey(key, services))), next } };
    },
  });
}

/** What changes keys: what is a member's always carries the member's own tags. */
export function keyChanges(services: AccountServices): readonly PageRoute<Reader>[] {
  const { gateway, keys } = services;
  return [
    pageRoute<Reader, undefined, typeof newKey>({
      method: "POST",
      path: "keys",
      body: newKey,
      async answer({ identity, body: { expires_at, tags, ...given } }) {
        await requireOwnTags(services, identity, tags);
        const created = await keys.add(identity, async () =>
          gateway.keys.create(
            {
              account: identity.account,
              ...(await keyTerms(gateway, identity)),
              ...given,
              tags: withOwn(identity, tags),
              expiresAt: toMs(expires_at),
            },
            authorOf(identity),
          ),
        );
        return { status: 201, json: await toNewAccountKey(created, services) };
      },
    }),
    pageRoute<Reader, undefined, typeof keyChange>({
      method: "PATCH",
      path: "keys/{id}",
      body: keyChange,
      async answer({ identity, params: { id = "" }, body: { expires_at, tags, ...given } }) {
        const key = await keys.find(identity, id);
        await requireOwnTags(services, identity, tags, key.tags);
        const change = {
          ...given,
          ...(tags !== undefined && { tags: withOwn(identity, tags) }),
          ...(expires_at !== undefined && { expiresAt: toMs(expires_at) }),
        };
        const changed = await keys.change(identity, key, expires_at !== undefined, () =>
          gateway.keys.update(id, change, authorOf(identity)),
        );
        return { json: await toAccountKey(changed, services) };
      },
    }),
    pageRoute<Reader, undefined, typeof rotation>({
      method: "POST",
      path: "keys/{id}/rotate",
      body: rotation,
      async answer({ identity, params: { id = "" }, body }) {
        await keys.find(identity, id);
        const graceMs = body.grace_seconds * 1000;
        const made = await keys.replace(identity, graceMs > 0, () =>
          gateway.keys.rotate(id, { graceMs, ...authorOf(identity) }),
        );
        return { status: 201, json: await toNewAccountKey(made, services) };
      },
    }),
    pageRoute<Reader, undefined, typeof nothing>({
      method: "POST",
      path: "keys/{id}/revoke",
      body: nothing,
      async answer({ identity, params: { id = "" } }) {
        await keys.find(identity, id);
        return { json: await toAccountKey(await gateway.keys.revoke(id, authorOf(identity)), services) };
      },
    }),
  ];
}

function withOwn({ role, tags: own }: Reader, given: Readonly<Record<string, string>> = {}) {
  const tags = role === "member" ? { ...given, ...own } : given;
  return Object.keys(tags).length === 0 ? null : tags;
}

function toMs(seconds: number | null | undefined): number | null | undefined {
  return typeof seconds === "number" ? seconds * 1000 : seconds;
}

type Tags = Readonly<Record<string, string>>;

/**
 * A member may file calls under what is free, and under what the key is filed under already. What tells members apart, or has
 * a budget, is somebody else's to use up.
 * @throws GatewayError 403
 */
async function requireOwnTags(
  { gateway, memberTag }: AccountServices,
  reader: Reader,
  given: Tags = {},
  before: Tags | null = null,
): Promise<void> {
  if (reader.role === "owner") return;
  const others = Object.entries(given).filter(
    ([tag, value]) => !Object.hasOwn(reader.tags, tag) && before?.[tag] !== value,
  );
  if (others.length === 0) return;
  if (others.some(([tag]) => tag === memberTag)) throw ownersTag(memberTag);
  const terms = await readerTerms(gateway, reader);
  for (const [tag, value] of others.slice(0, mostTags)) {
    const { origin } = await gateway.budgets.balance(reader.account, { tag, value }, terms);
    if (origin !== null) throw ownersTag(tag);
  }
}

/** No key has more. */
const mostTags = 16;

function ownersTag(tag: string): GatewayError {
  return new GatewayError(`Only the owner of the account may file your calls under '${tag}'.`, {
    ...{ status: 403, code: "owner_only", param: "tags" },
  });
}

type KeyServices = Pick<AccountServices, "gateway" | "clock">;

async function toAccountKey(key: ManagedKey, services: KeyServices): Promise<AccountKey> {
  const { id, name, hint, tags, models, credits } = key;
  return {
    ...{ id, name, hint, models },
    state: keyState(key, services.clock.now()),
    tags: tags ?? {},
    credits: credits as AccountKeyCredits | null,
    meters: await metersOf(key, services),
    created_at: toSeconds(key.createdAt),
    expires_at: toSeconds(key.expiresAt),
    revoked_at: toSeconds(key.revokedAt),
    last_used_at: toSeconds(key.lastUsedAt),
  };
}

async function toNewAccountKey(key: CreatedKey, services: KeyServices): Promise<NewAccountKey> {
  return { ...(await toAccountKey(key, services)), secret: key.secret };
}

/** Without a ledger there is no balance, but keys can be seen and changed all the same. */
async function metersOf(
  { id, credits }: ManagedKey,
  { gateway }: KeyServices,
): Promise<readonly AccountMeter[] | null> {
  if (credits === null) return [];
  try {
    return keyMeters(await gateway.keys.balance(id));
  } catch {
    return null;
  }
}
