import { GatewayError } from "../../errors/gateway-error.js";
import type { Reader } from "./account-identity.js";
import type { AccountServices } from "./account-services.js";
import { readerTerms } from "./reader-terms.js";

type Tags = Readonly<Record<string, string>>;

/**
 * A member may file calls under what is free, and under what the key is filed under already. What tells members apart, or has
 * a budget, is somebody else's to use up.
 * @throws GatewayError 403
 */
export async function requireOwnTags(
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
