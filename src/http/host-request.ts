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
   * Express's `req`, Fastify's request, the web-standard `Request` (in Next.js the `NextRequest`), or Node's
   * `IncomingMessage`. The gateway still has to read the body of a Node request: do not read it.
   */
  readonly raw: Raw;
}
