import * as z from "zod";
import type { Gateway } from "../../gateway/gateway.js";
import type { InProcess } from "../../gateway/in-process/in-process.js";
import type { Model } from "../../gateway/models/model.js";
import type { GatewayRequest } from "../../http/message.js";
import type { Price } from "../../prices/price.js";
import { priceVariants } from "../app/price-variants.js";
import { accountRecord, type PageAnswer, type PageRoute, pageRoute } from "../server/page-route.js";
import type { AccountModel, AccountPricePart } from "./account-page-api.js";
import { type Reader, readerTerms, readerTermsBeside } from "./reader.js";
import type { AccountServices } from "./reader-keys.js";

const message = z.strictObject({ role: z.enum(["user", "assistant"]), content: z.string().min(1).max(32_000) });
const trial = z.strictObject({ model: z.string().min(1).max(256), messages: z.array(message).min(1).max(40) });

/** The models of the reader's plan, with what they cost them. */
export function modelsRoute({ gateway }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader>({
    method: "GET",
    path: "models",
    async answer({ identity }) {
      const { fetch, baseURL } = await callerOf(gateway, identity);
      const response = await fetch(`${baseURL}/models`);
      if (!response.ok) return relayed(response);
      const { data } = (await response.json()) as { data: readonly ListedModel[] };
      const [prices, factor] = await Promise.all([pricesOf(gateway), factorOf(gateway, identity)]);
      const models = data.filter(({ alias_of }) => alias_of === undefined);
      return { json: { data: models.map((model) => toModel(model, prices.get(model.id), factor)), next: null } };
    },
  });
}

/** Calls a model for the reader, whose credits pay for it: the answer streams as it comes. */
export function tryRoute({ gateway }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader, undefined, typeof trial>({
    method: "POST",
    path: "try",
    body: trial,
    isPatient: true,
    async answer({ identity, body, request }) {
      const { fetch, baseURL } = await callerOf(gateway, identity, leaving(request));
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
      });
      return relayed(response);
    },
  });
}

/** What `GET /v1/models` lists. */
interface ListedModel {
  readonly id: string;
  readonly type: Model["type"];
  readonly publisher?: string;
  readonly context_length?: number;
  readonly max_output_tokens?: number;
  readonly alias_of?: string;
}

/** Calls are filed under what they are for, and under the reader's own tags. */
async function callerOf(gateway: Gateway, reader: Reader, signal?: AbortSignal): Promise<InProcess> {
  const { plan, anchor } = await readerTerms(gateway, reader);
  return gateway.as({
    ...{ account: reader.account, plan: plan ?? undefined, anchor, key: "account-page", signal },
    ...(Object.keys(reader.tags).length > 0 && { tags: reader.tags }),
  });
}

/** Aborted when the reader leaves: the model need not go on. */
function leaving(request: GatewayRequest): AbortSignal {
  const controller = new AbortController();
  if (request.signal.aborted) controller.abort();
  else request.signal.addEventListener("abort", () => controller.abort());
  return controller.signal;
}

function relayed(response: Response): PageAnswer {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "x-request-id", "retry-after"]) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const { status, body } = response;
  return body === null ? { status, headers } : { status, headers, body: piecesOf(body) };
}

async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } catch {
    // The reader has left, or the gateway was closed: there is nobody to tell.
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function pricesOf(gateway: Gateway): Promise<ReadonlyMap<string, Price>> {
  const models = await gateway.models.list();
  return new Map(models.flatMap(({ id, model }) => (model === undefined ? [] : [[id, model.price] as const])));
}

/** What prices are multiplied by: the account's factor, else its plan's. */
async function factorOf(gateway: Gateway, reader: Reader): Promise<number> {
  const record = await accountRecord(gateway, reader.account);
  if (typeof record?.priceFactor === "number") return record.priceFactor;
  const { plan } = await gateway.accounts.balance(reader.account, readerTermsBeside(record, reader));
  return (await gateway.plans.get(plan))?.priceFactor ?? 1;
}

function toModel(model: ListedModel, price: Price | undefined, factor: number): AccountModel {
  const { id, type, publisher, context_length, max_output_tokens } = model;
  return {
    ...{ id, type, publisher: publisher ?? null },
    ...{ context_length: context_length ?? null, max_output_tokens: max_output_tokens ?? null },
    price: price === undefined ? null : toPrice(price, factor),
  };
}

/** What a model costs the reader, by the factor of their plan or account. */
export function toPrice(
  { input, cachedInput, output, request, images = [], steps, tiers, ...rest }: Price,
  factor: number,
): NonNullable<AccountModel["price"]> {
  const scaled = (amount: number) => Number((amount * factor).toPrecision(12));
  const known = (amount: number | undefined) => (amount === undefined ? null : scaled(amount));
  const others = Object.entries(rest).flatMap(([name, amount]): AccountPricePart[] =>
    typeof amount === "number" ? [{ part: inSnakeCase(name), of: null, credits: scaled(amount) }] : [],
  );
  const made = images.map(({ quality, size, credits }): AccountPricePart => {
    const of = [quality, size].filter((part) => part !== undefined).join(" ");
    return { part: "image", of: of === "" ? null : of, credits: scaled(credits) };
  });
  const variants = priceVariants({ steps, tiers }).map(({ part, of, credits }): AccountPricePart => {
    return { part: inSnakeCase(part), of, credits: scaled(credits) };
  });
  return {
    ...{ input: known(input), cached_input: known(cachedInput), output: known(output), request: known(request) },
    others: [...others, ...variants, ...made],
  };
}

/** `cacheWrite1h` is `cache_write_1h`. */
function inSnakeCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z\d])/g, "_").toLowerCase();
}
