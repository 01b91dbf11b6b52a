import type * as z from "zod";
import type { GatewayRequest } from "../../http/message.js";

/** One answer of a page's API: JSON, or a response of its own kind. */
export interface PageAnswer {
  readonly status?: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
}

/** A call of a page's API, checked. */
export interface PageCall<Identity, Query = unknown, Body = unknown> {
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
export interface MatchedRoutes<Identity> {
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
