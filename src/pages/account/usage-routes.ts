import * as z from "zod";
import { isTagName } from "../../check/text-schemas.js";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import type { AccountStatement } from "../../ledger/usage/usage-request.js";
import type { LoggedRequest } from "../../request-log/request-log.js";
import { type PageRoute, pageRoute, toCredits, toSeconds } from "../server/page-route.js";
import { requireFewDays, requireFewSums, secondsText } from "../server/usage-bounds.js";
import type { AccountBill, AccountRequest, AccountUsage } from "./account-page-api.js";
import type { Reader } from "./reader.js";
import type { AccountServices } from "./reader-keys.js";

const query = z.strictObject({
  from: secondsText,
  to: secondsText.optional(),
  every: z.enum(["hour", "day"]).optional(),
  time_zone: z.string().max(64).optional(),
  /** Names, with commas between. */
  by: z.string().max(400).optional(),
});

/** What was used, by hours or days, models, keys and tags. What calls cost the operator is not in it. */
export function usageRoute({ gateway, clock }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader, typeof query>({
    method: "GET",
    path: "usage",
    query,
    async answer({ identity, query: { from, to = toSeconds(clock.now()) + 1, every, time_zone, by } }) {
      requireFewDays(from, to, every);
      const records = await gateway.usage({
        from: from * 1000,
        to: to * 1000,
        by: namesOf(by),
        refusals: true,
        where: { account: identity.account, ...ownFilter(identity) },
        ...(every !== undefined && { every, timeZone: time_zone }),
      });
      requireFewSums(records.length);
      return { json: { data: records.map(toUsage), next: null } };
    },
  });
}

/** Only what carries a member's own tags. */
function ownFilter({ role, tags }: Reader): Record<string, string> {
  const own = role === "member" ? Object.entries(tags) : [];
  return Object.fromEntries(own.map(([name, value]) => [`tag.${name}`, value]));
}

/** Neither the targets nor what else is the operator's. */
function namesOf(by: string | undefined): string[] {
  const names = by === undefined || by === "" ? [] : by.split(",");
  const other = names.find(
    (name) => !["model", "key", "funding"].includes(name) && !(name.startsWith("tag.") && isTagName(name.slice(4))),
  );
  if (other === undefined && names.length <= 4) return names;
  throw invalidValue("by", "`by` must be up to four of model, key, funding and tags, such as tag.member.");
}

function toUsage({ by, period, requests, chargedMicro, tokens, refusals, failures }: UsageRecord): AccountUsage {
  return {
    by,
    period: period === undefined ? null : { name: period.name, from: toSeconds(period.from), to: toSeconds(period.to) },
    requests,
    credits: toCredits(chargedMicro),
    input_tokens: tokens.input,
    cached_tokens: tokens.cachedInput,
    output_tokens: tokens.output,
    refusals: refusals ?? null,
    failures: failures ?? null,
  };
}

const requestsQuery = z.strictObject({
  cursor: z.string().max(1000).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** `refused`: those with an error status alone. */
  only: z.enum(["refused"]).optional(),
  key: z.string().max(256).optional(),
  model: z.string().max(256).optional(),
});
const range = z.strictObject({ from: secondsText, to: secondsText });

/** The last requests, refusals included. What only lists models or usage is none, unless it was refused. */
export function requestsRoute({ gateway }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader, typeof requestsQuery>({
    method: "GET",
    path: "requests",
    query: requestsQuery,
    async answer({ identity: { account, role, tags }, query: { only, ...rest } }) {
      const { requests, cursor } = await gateway.requests.list({
        ...rest,
        account,
        ...(role === "member" && { tag: tags }),
        ...(only === "refused" && { status: ["4xx", "5xx"] }),
      });
      return { json: { data: requests.filter(isCall).map(toRequest), next: cursor ?? null } };
    },
  });
}

/** What became of the account's credits: the owner's to know. */
export function statementRoute({ gateway }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader, typeof range>({
    method: "GET",
    path: "statement",
    query: range,
    async answer({ identity, query: { from, to } }) {
      requireOwner(identity);
      const statement = await gateway.accounts.statement(identity.account, { from: from * 1000, to: to * 1000 });
      return { json: toBill(statement) };
    },
  });
}

/** What a call cost: its entries of the journal, which may come a moment after its response. */
export function chargeRoute({ gateway }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader>({
    method: "GET",
    path: "charges/{id}",
    async answer({ identity: { account, role, tags }, params: { id = "" } }) {
      const page = await gateway.accounts.history(account, { id, kinds: ["charge"], limit: 10 });
      const own = role === "member" ? Object.entries(tags) : [];
      const entries = page.entries.filter((entry) => own.every(([name, value]) => entry.tags[`tag.${name}`] === value));
      const charged = entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0);
      return { json: { credits: entries.length === 0 ? null : toCredits(charged) } };
    },
  });
}

/** @throws GatewayError 403 */
export function requireOwner({ role }: Reader): void {
  if (role === "owner") return;
  throw new GatewayError("Only the owner of the account may see this.", { status: 403, code: "owner_only" });
}

function isCall({ model, status }: LoggedRequest): boolean {
  return model !== undefined || status >= 400;
}

/** Neither what it cost the operator, nor which model server has answered. */
function toRequest(request: LoggedRequest): AccountRequest {
  const { requestId, startedAt, endpoint, model, keyId, tags, stream, status, errorCode, tokens, count } = request;
  return {
    ...{
      id: requestId,
      at: toSeconds(startedAt),
      endpoint: endpoint ?? null,
      model: model ?? null,
      key: keyId ?? null,
    },
    ...{ tags: tags ?? {}, stream, status, code: errorCode ?? null, cached: request.usageSource === "cache" },
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    credits: toCredits(request.chargedMicro),
    duration_ms: Math.round(request.durations.total),
    count: count ?? 1,
  };
}

function toBill({ from, to, prepaid, plan }: AccountStatement): AccountBill {
  return {
    from: toSeconds(from),
    to: toSeconds(to),
    prepaid: {
      opening: toCredits(prepaid.openingMicro),
      bought: toCredits(prepaid.boughtMicro),
      used: toCredits(prepaid.usedMicro),
      expired: toCredits(prepaid.expiredMicro),
      taken_back: toCredits(prepaid.takenBackMicro),
      closing: toCredits(prepaid.closingMicro),
    },
    plan: { used: toCredits(plan.usedMicro), granted: toCredits(plan.grantedMicro) },
  };
}
