import type * as z from "zod";
import { GatewayError, internalError, isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import type { Gateway } from "../../gateway/gateway.js";
import { type GatewayRequest, isBodyError } from "../../http/message.js";
import { type BodyOptions, bodyFailure } from "../../http/request-body.js";
import { TimeLimitError } from "../../ledger/guard/time-limit.js";
import type { KeptAccount } from "../../records/accounts/account-store.js";

/** One answer of a page's API: JSON, or a response of its own kind. */
export interface PageAnswer {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
}

/** A call of a page's API, checked. */
interface PageCall<Identity, Query = unknown, Body = unknown> {
  readonly identity: Identity;
  /** What stands in the path for each `{name}` of the route's. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly request: GatewayRequest;
}

/** A route of a page's API, as it is kept. */
export interface PageRoute<Identity> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `api/`; `{name}` stands for one segment. */
  readonly path: string;
  /** Of the query. Absent: it has none. */
  readonly query?: z.ZodObject;
  /** Of the body, a JSON object. Absent: the request has none. */
  readonly body?: z.ZodObject;
  /** It waits for a model server, and not for stores alone: its answer may take as long as that. */
  readonly isPatient?: boolean;
  answer(call: PageCall<Identity, never, never>): Promise<PageAnswer>;
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** Gives `answer` the types of what the schemas let through. */
export function pageRoute<
  Identity,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodObject | undefined = undefined,
>(route: {
  readonly method: PageRoute<Identity>["method"];
  readonly path: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly isPatient?: boolean;
  answer(call: PageCall<Identity, Output<Query>, Output<Body>>): Promise<PageAnswer>;
}): PageRoute<Identity> {
  return route as unknown as PageRoute<Identity>;
}

/** What a path is: the routes by method, and what stands for the names in it. */
interface MatchedRoutes<Identity> {
  readonly routes: ReadonlyMap<string, PageRoute<Identity>>;
  readonly params: Readonly<Record<string, string>>;
}

/** @param path - undecoded, below `api/`. */
export function matchRoutes<Identity>(
  routes: readonly PageRoute<Identity>[],
  path: string,
): MatchedRoutes<Identity> | undefined {
  const sent = path.split("/");
  for (const { path: pattern } of routes) {
    const params = paramsOf(pattern.split("/"), sent);
    if (params === undefined) continue;
    const matching = routes.filter((route) => route.path === pattern);
    return { routes: new Map(matching.map((route) => [route.method, route])), params };
  }
  return undefined;
}

function paramsOf(pattern: readonly string[], sent: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== sent.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = sent[index] ?? "";
    if (!part.startsWith("{")) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = decoded(segment);
    if (value === undefined || value === "" || value.length > longestParam) return undefined;
    params[part.slice(1, -1)] = value;
  }
  return params;
}

const longestParam = 300;

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * What a reader gets for what was thrown. What the management of the gateway throws names methods of the host's: only its
 * status goes out, and where a reader can mend it, its words.
 */
export function pageError(thrown: unknown, bodies: BodyOptions, warn: Warn): GatewayError {
  if (isBodyError(thrown)) return bodyFailure(thrown, bodies);
  const status = statusOf(thrown);
  if (status === 503 || thrown instanceof TimeLimitError)
    return serviceUnavailable("The service has no access to its data at the moment. Try again shortly.");
  if (isGatewayError(thrown)) return thrown;
  if (isUnsupported(thrown)) {
    return new GatewayError("This service does not keep that.", { status: 501, code: "not_supported" });
  }
  if (status === 404) return notFound();
  if (status === 409) {
    return new GatewayError("Something else has changed it in the meantime, or it has ended. Load it again.", {
      status,
      code: "conflict",
    });
  }
  if (status === 400 && thrown instanceof Error) {
    return new GatewayError(withoutMethod(thrown.message), { status, code: "invalid_value" });
  }
  warn({ code: "internal_error", message: "A bug in the gateway: a request of a page got a 500.", cause: thrown });
  return internalError(thrown);
}

/** One text for what is not there and for what is another's. */
export function notFound(): GatewayError {
  return new GatewayError("There is no such thing here.", { status: 404, code: "not_found" });
}

function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("status" in thrown)) return undefined;
  return typeof thrown.status === "number" ? thrown.status : undefined;
}

/** `gateway.keys.create: name: …` is about the name. */
function withoutMethod(message: string): string {
  return message
    .replace(/^gateway(?:\.\w+)+: /, "")
    .replace(/\s+/g, " ")
    .slice(0, 500);
}

/** Whether the gateway lacks a store for what was asked: by shape, since it may come from another copy of the package. */
function isUnsupported(error: unknown): boolean {
  return error instanceof TypeError && "status" in error && error.status === 501;
}

/** @returns `undefined` where the gateway has no store for it. */
export async function unlessUnsupported<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isUnsupported(error)) return undefined;
    throw error;
  }
}

/** `undefined`: it has none, or the gateway keeps no accounts. */
export async function accountRecord(gateway: Gateway, account: string): Promise<KeptAccount | undefined> {
  return unlessUnsupported(() => gateway.accounts.get(account));
}

const microPerCredit = 1_000_000;

/** Credits with all their decimals. */
export function toCredits<Micro extends number | null>(micro: Micro): Micro {
  return (micro === null ? null : micro / microPerCredit) as Micro;
}

/** Epoch seconds, rounded up: whoever waits for them does not come too early. */
export function toSeconds<Instant extends number | null>(ms: Instant): Instant {
  return (ms === null ? null : Math.ceil(ms / 1000)) as Instant;
}
