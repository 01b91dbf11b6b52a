import { clientAddress } from "./client-address.js";

/**
 * A request as the host's own code sees it: what its framework gave, and the little that is the same everywhere.
 *
 * @typeParam Raw - what the framework calls a request, such as `express.Request`, `FastifyRequest` or `NextRequest`.
 */
export interface HostRequest<Raw = unknown> {
  /** Upper case. */
  readonly method: string;
  /** As the host got it: a path with its query on Node, an absolute URL where requests are web-standard. */
  readonly url: string;
  /** The header's value; `undefined` when it was not sent. The case of the name does not matter. */
  header(name: string): string | undefined;
  /** All headers. Made when first read. */
  readonly headers: Headers;
  /**
   * The client's address, such as `203.0.113.7` or `2001:db8::1`, as far as the network says: whom the connection is from, or
   * what the last of the host's own proxies wrote into `X-Forwarded-For`, see `trustProxy` of `createGateway`. `undefined` where
   * it is not known: web-standard requests have it from proxies alone. A page's `identify` gets that of the connection.
   */
  readonly ip: string | undefined;
  /**
   * Express's `req`, Fastify's request, the web-standard `Request` (in Next.js the `NextRequest`), or Node's
   * `IncomingMessage`. The gateway still has to read the body of a Node request: do not read it.
   */
  readonly raw: Raw;
}

/** One that is told how many proxies stand before it. */
export interface TrustingRequest<Raw = unknown> extends HostRequest<Raw> {
  /** Of the host's own. */
  trustedProxies: number;
}

/** What Node's requests and those of the frameworks on it have in common: Express' and Fastify's, too. */
export interface NodeRequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A Node request as the host's own code sees it. */
export class NodeHostRequest implements TrustingRequest {
  readonly raw: unknown;
  trustedProxies = 0;
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

  get ip(): string | undefined {
    const { socket } = this.raw as { readonly socket?: { readonly remoteAddress?: string | undefined } };
    return clientAddress(socket?.remoteAddress, this.header("x-forwarded-for"), this.trustedProxies);
  }

  // Of the object, not of the class: hosts write `({ header }) => …`.
  readonly header = (name: string): string | undefined => {
    const value = this.#req.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  };

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

/** A web-standard request as the host's own code sees it. */
export class WebHostRequest implements TrustingRequest<Request> {
  trustedProxies = 0;
  readonly #request: Request;
  #copy: Request | undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  get headers(): Headers {
    return this.#request.headers;
  }

  readonly header = (name: string): string | undefined => this.headers.get(name) ?? undefined;

  get ip(): string | undefined {
    return clientAddress(undefined, this.header("x-forwarded-for"), this.trustedProxies);
  }

  /** Who gets it may read its body, so a copy of the body is kept for the gateway. Nothing is read for it. */
  get raw(): Request {
    const { body, bodyUsed } = this.#request;
    if (body !== null && !bodyUsed && !body.locked) this.#copy ??= this.#request.clone();
    return this.#request;
  }

  /** The request, or its copy if the host's code has read from the request. The other one's body is given up. */
  unread(): Request {
    const { body, bodyUsed } = this.#request;
    if (this.#copy === undefined || bodyUsed || body?.locked) return this.#copy ?? this.#request;
    // What is read of one would be kept for the other.
    this.#copy.body?.cancel().catch(() => {});
    this.#copy = undefined;
    return this.#request;
  }
}
