import type { HostRequest } from "../../http/host-request.js";

/** A web-standard request as the host's own code sees it. */
export class WebHostRequest implements HostRequest<Request> {
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

  header(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
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
