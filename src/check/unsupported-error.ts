/** A store or ledger of the gateway cannot do what a method needs. The message says which one can. */
export class UnsupportedError extends TypeError {
  /** Not Implemented (RFC 9110, section 15.6.2): no other input helps. */
  readonly status = 501;
  readonly statusCode = 501;
}
