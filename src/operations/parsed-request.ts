import type { JsonRequest } from "../model-api/request/json-request.js";

/** What the gateway reads of every request. */
interface ReadRequest extends JsonRequest {
  readonly model: string;
  /** Absent: its response does not come in a stream. */
  readonly stream?: boolean;
}

/** What all requests that were understood have in common. */
export abstract class ParsedRequest<Request extends ReadRequest> {
  protected readonly request: Request;

  constructor(request: Request) {
    this.request = request;
  }

  get model(): string {
    return this.request.model;
  }

  get stream(): boolean {
    return this.request.stream === true;
  }

  get comparable(): JsonRequest | undefined {
    return this.request;
  }

  asksToReason(): boolean {
    return false;
  }
}
