import * as z from "zod";
import { explainOnce } from "../../check/check-input.js";
import { listProblems, problemsOf } from "../../check/list-problems.js";
import { consoleWarn, type GatewayWarning, type Warn } from "../../events/warning.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { HostRequest } from "../../http/host-request.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import { callHook } from "../../runtime/host-code.js";
import { type PageTheme, themeSchema } from "./page-theme.js";

/** An image of the host's beside the title. */
export interface PageLogo {
  /** A path of the host's own origin, such as `/logo.svg`, or a `data:` URL of an image. */
  src: string;
  /** Where a click on it leads. Default: nowhere. */
  href?: string | undefined;
}

/**
 * What both pages take.
 *
 * @typeParam Identity - who reads the page.
 * @typeParam Raw - what the host's framework calls a request, such as `express.Request`.
 */
export interface PageOptions<Identity, Raw = unknown> {
  /** What the page shows and changes. */
  gateway: Gateway;
  /**
   * Finds who a request is from, by the host's own session. It is called for each request and never cached: who signs out
   * is out. A falsy answer is a 401. Where it throws, takes longer than `identifyTimeoutMs`, or finds what cannot be an
   * identity, the request gets a 503 and the host a warning.
   */
  identify: (request: HostRequest<Raw>) => Identity | Falsy | Promise<Identity | Falsy>;
  /** How long `identify` may take, in milliseconds. Default: 5,000. */
  identifyTimeoutMs?: number | undefined;
  /**
   * The path at which the page is mounted, where the framework does not take it off: for `toFetchHandler`,
   * `toRouteHandlers` and `toNodeHandler`. Default: `""`.
   */
  basePath?: string | undefined;
  /** Where the document leads who is not signed in: a path, or a URL. Default: nowhere, the document says so with a 401. */
  signInUrl?: string | undefined;
  /**
   * The host's own origins, such as `https://app.example.com`, where a proxy in front changes the `Host` header. They count
   * only over plain HTTP, where browsers do not say by themselves that a request is from the same origin.
   */
  origins?: readonly string[] | undefined;
  /** The heading, and the title of the browser's tab. Default: `API access`, `AI gateway`. */
  title?: string | undefined;
  logo?: PageLogo | undefined;
  theme?: PageTheme | undefined;
  /** Which origins may show the page in a frame. Default: none. */
  frameAncestors?: readonly string[] | undefined;
  /**
   * The nonce of scripts, for hosts whose own content security policy trusts nothing but nonces. Called for each document.
   * Default: none, which every other policy is content with.
   */
  scriptNonce?: ((request: HostRequest<Raw>) => string) | undefined;
  /** What the time is, for tests. Default: the system's. */
  clock?: Clock | undefined;
  /** Told of what the host should know. Default: `console.warn`. */
  onWarning?: ((warning: GatewayWarning) => void) | undefined;
}

/** Nobody is signed in. */
type Falsy = null | undefined | false;

const called = (what: string) =>
  z.custom<(...given: never[]) => unknown>((value) => typeof value === "function", { error: what });
const line = z.string().min(1).max(200);
/** Never a `javascript:` URL. */
export const pageAddress = line.regex(
  /^(?:\/(?!\/)|https?:\/\/)[^\s"'<>\\]*$/,
  "must be a path that begins with `/`, or a URL",
);
const origin = line.refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be an origin, such as "https://app.example.com"',
});
const identifyMissing = "must be a function that finds who a request is from; no page is made without it";

/** The members of all pages' options. */
export const pageOptionsShape = {
  gateway: z.custom<Gateway>((value) => typeof (value as Gateway | undefined)?.accounts?.balance === "function", {
    error: "must be the gateway that createGateway() made",
  }),
  identify: called(identifyMissing),
  identifyTimeoutMs: z.number().int().min(1).max(600_000).default(5000),
  basePath: z
    .string()
    .regex(/^(?:\/[\w.~!$&'()*+,;=:@%-]+)*\/?$/, 'must be a path, such as "/account/api"')
    .default("")
    .transform((path) => path.replace(/\/$/, "")),
  signInUrl: pageAddress.optional(),
  origins: z.array(origin).optional(),
  title: line.optional(),
  logo: z
    .strictObject({
      src: z
        .string()
        .max(100_000)
        .regex(
          /^(?:\/(?!\/)[^\s"'<>\\]*|data:image\/[\w.+-]+[;,][^\s"'<>]*)$/,
          "must be a path or a `data:` URL of an image",
        ),
      href: pageAddress.optional(),
    })
    .optional(),
  theme: themeSchema.default({}),
  frameAncestors: z.array(z.union([z.literal("'self'"), origin])).optional(),
  scriptNonce: called("must be a function that gives the nonce of a request").optional(),
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | undefined)?.now === "function", { error: "must have `now()`" })
    .default(systemClock),
  onWarning: called("must be a function").optional(),
};

/** Of texts that stand in place of a page's own. All of them come out. */
export function textsSchema<Texts extends Readonly<Record<string, string>>>(own: Texts) {
  const shape = Object.fromEntries(Object.keys(own).map((name) => [name, z.string().max(2000).optional()]));
  return z
    .strictObject(shape)
    .default({})
    .transform((given) => ({ ...own, ...given }));
}

/** @throws TypeError that begins with `by` and lists what to fix. */
export function checkPageOptions<Schema extends z.ZodObject>(
  by: string,
  schema: Schema,
  given: unknown,
): z.output<Schema> {
  const result = schema.safeParse(given ?? {}, explainOnce("option"));
  if (result.success) return result.data;
  throw new TypeError(listProblems(by, problemsOf(result.error)));
}

/** Tells the host what it should know. If its hook fails, there is no other place to report it. */
export function pageWarn(onWarning: PageOptions<unknown>["onWarning"]): Warn {
  if (onWarning === undefined) return consoleWarn;
  return (warning) =>
    callHook(
      () => onWarning(warning),
      () => {},
    );
}
