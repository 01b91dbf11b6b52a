import { serviceUnavailable, unknownUrl } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import {
  type GatewayRequest,
  type GatewayResponse,
  handle,
  type MountedHandler,
  tells,
} from "../../gateway/gateway.js";
import { bridgeWebRequest } from "../../gateway/web-bridge.js";
import type { HostRequest } from "../../http/host-request.js";
import { TimeLimit } from "../../ledger/guard/time-limit.js";
import { openAIErrorBody } from "../../protocols/shared/openai-protocol.js";
import { findIdentity, type IdentityRules, PageApi } from "./page-api.js";
import { documentText, PageAssets, securityHeaders, sentenceDocument } from "./page-document.js";
import type { PageEntry } from "./page-entry.js";
import { pageFiles } from "./page-files.js";
import { type PageOptions, pageWarn } from "./page-options.js";
import { type PageRoute, pageError } from "./page-route.js";
import { ThemeSheet } from "./page-theme.js";

/** What makes one page of what both have. */
export interface PageDefinition<Identity> {
  readonly entry: PageEntry;
  readonly title: string;
  readonly noScript: string;
  /** What the script asks the API for at once, without a query. */
  readonly data?: string;
  readonly check: (found: unknown) => Identity;
  /** The account or the person that it is. */
  readonly ownerOf: (identity: Identity) => string;
  readonly routes: readonly PageRoute<Identity>[];
  /** What the page's script reads in its document. */
  readonly settings: (identity: Identity) => object;
  readonly langOf: (identity: Identity) => string | undefined;
}

/** The options after their check. */
export type CheckedPageOptions = Omit<PageOptions<unknown>, "basePath" | "identifyTimeoutMs" | "theme"> & {
  readonly basePath: string;
  readonly identifyTimeoutMs: number;
  readonly theme: NonNullable<PageOptions<unknown>["theme"]>;
};

/** A page, ready to be mounted: its document, its files and its API, all below its mount. */
export function makePage<Identity>(options: CheckedPageOptions, definition: PageDefinition<Identity>): MountedHandler {
  const page = new Page(options, definition);
  const mounted: MountedHandler = {
    basePath: options.basePath,
    maxStallMs: options.gateway.maxStallMs,
    routes: ["/", "/*"],
    serves: () => true,
    handler: (request) => bridgeWebRequest(mounted, request),
    [handle]: (request) => page.answer(request),
    [tells]: () => false,
  };
  return mounted;
}

class Page<Identity> {
  readonly #options: CheckedPageOptions;
  readonly #definition: PageDefinition<Identity>;
  readonly #warn: Warn;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #theme: ThemeSheet | undefined;
  readonly #assets: PageAssets;
  readonly #identity: IdentityRules<Identity>;
  readonly #api: PageApi<Identity>;

  constructor(options: CheckedPageOptions, definition: PageDefinition<Identity>) {
    const { identify, identifyTimeoutMs, origins, frameAncestors, theme, onWarning } = options;
    this.#options = options;
    this.#definition = definition;
    this.#warn = pageWarn(onWarning);
    this.#headers = securityHeaders(frameAncestors);
    this.#theme = ThemeSheet.of(theme);
    const { entry } = definition;
    const names = [entry.script, ...entry.preloads, ...entry.later, pageFiles.style];
    const files = Object.fromEntries(names.map((name) => [name, pageFiles.files[name] ?? ""]));
    this.#assets = new PageAssets(files, this.#theme);
    const limit = new TimeLimit(identifyTimeoutMs);
    this.#identity = { identify, check: definition.check, ownerOf: definition.ownerOf, limit, warn: this.#warn };
    this.#api = new PageApi(definition.routes, this.#identity, origins);
  }

  async answer(request: GatewayRequest): Promise<GatewayResponse> {
    const { status, headers, body } = await this.#answerUnprotected(request);
    return { status, headers: { ...this.#headers, ...headers }, body };
  }

  async #answerUnprotected(request: GatewayRequest): Promise<GatewayResponse> {
    const { method, path } = request;
    try {
      if (path.startsWith("/api/")) return await this.#api.answer(request, path.slice("/api/".length));
      if (method === "GET" || method === "HEAD") {
        if (path === "/") return await this.#document(request);
        const asset = path.startsWith("/assets/")
          ? await this.#assets.answer(path.slice("/assets/".length), request)
          : undefined;
        if (asset !== undefined) return asset;
      }
      throw unknownUrl(method, path);
    } catch (thrown) {
      return this.#refusal(request, thrown);
    }
  }

  async #document(request: GatewayRequest): Promise<GatewayResponse> {
    const options = this.#options;
    const identity = await findIdentity(request, this.#identity);
    const host = request.hostRequest?.();
    const base = baseOf(host?.url ?? "/");
    const styles = [pageFiles.style, ...(this.#theme === undefined ? [] : [this.#theme.name])];
    const toPath = (name: string) => `${base}assets/${name}`;
    const { entry, noScript, data, settings, langOf } = this.#definition;
    const title = options.title ?? this.#definition.title;
    if (identity === undefined) {
      if (options.signInUrl !== undefined) return { status: 302, headers: { location: options.signInUrl }, body: null };
      return html(401, sentenceDocument(title, "Sign in to see this page.", styles.map(toPath)));
    }
    const text = documentText({
      title,
      lang: langOf(identity) ?? "en",
      styles: styles.map(toPath),
      preloads: entry.preloads.map(toPath),
      script: toPath(entry.script),
      data: data && `${base}api/${data}`,
      nonce: host === undefined ? undefined : await this.#nonceFor(host),
      noScript,
      settings: { title, logo: options.logo, signInUrl: options.signInUrl, ...settings(identity) },
    });
    return html(200, text);
  }

  /** @throws GatewayError 503, after a warning, when the host's code fails. */
  async #nonceFor(host: HostRequest): Promise<string | undefined> {
    const { scriptNonce } = this.#options;
    if (scriptNonce === undefined) return undefined;
    let cause: unknown;
    try {
      const nonce: unknown = await scriptNonce(host);
      if (typeof nonce === "string") return nonce;
    } catch (thrown) {
      cause = thrown;
    }
    const message = "`scriptNonce` of a page threw, or returned no text. The request got a 503.";
    this.#warn({ code: "hook_failed", message, ...(cause !== undefined && { cause }) });
    throw serviceUnavailable("The page cannot be shown at the moment. Try again shortly.");
  }

  #refusal(request: GatewayRequest, thrown: unknown): GatewayResponse {
    // Nobody reads it, and what was thrown may come of that.
    if (request.signal.aborted) return { status: 499, headers: {}, body: null };
    const error = pageError(thrown, this.#api.bodies, this.#warn);
    const { status, headers } = error;
    if (request.path === "/") {
      return { ...html(status, sentenceDocument(this.#options.title ?? this.#definition.title, error.message, [])) };
    }
    return { status, headers: { "content-type": "application/json", ...headers }, body: openAIErrorBody(error) };
  }
}

function html(status: number, body: string): GatewayResponse {
  return { status, headers: { "content-type": "text/html; charset=utf-8" }, body };
}

/**
 * What leads from the document to the mount, whatever stands before it: browsers take the last segment of the document's own
 * path off what is relative.
 */
function baseOf(url: HostRequest["url"]): string {
  const [path = "/"] = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "").split(/[?#]/);
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last === "" ? "./" : `./${last}/`;
}
