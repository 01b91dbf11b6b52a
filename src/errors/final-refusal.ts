/** Of the client's errors, those that may be over by themselves. */
const mayPass: ReadonlySet<number> = new Set([408, 409, 429]);

/** Whether the status of a refusal says that the same request would be refused again. */
export function isFinalRefusal(status: number): boolean {
  return status >= 400 && status < 500 && !mayPass.has(status);
}
