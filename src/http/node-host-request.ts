import type { HostRequest } from "./host-request.js";

/** What Node's requests and those of the frameworks on it have in common: Express' and Fastify's, too. */
export interface NodeRequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A Node request as the host's own code sees it. */
export class NodeHostRequest implements HostRequest {
  readonly raw: unknown;
  readonly #req: NodeRequestHead;
  #headers: Headers | undefined;

  constructor(req: NodeRequestHead, raw: unknown) {
    this.#req = req;
    this.raw = raw;
  }

  get method(): string {
    return this.#req.method ?? "GET";
  }

  /** Express and Connect take the mount's path off `url`. */
  get url(): string {
    const { originalUrl } = this.#req as { originalUrl?: unknown };
    return typeof originalUrl === "string" ? originalUrl : (this.#req.url ?? "/");
  }

  header(name: string): string | undefined {
    const value = this.#req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#req.headers);
    return this.#headers;
  }
}

/** HTTP/2's own names, such as `:path`, are no headers. */
function toHeaders(sent: NodeRequestHead["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(sent)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each);
  }
  return headers;
}
