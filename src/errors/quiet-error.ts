/**
 * An error without a stack trace: one that is thrown to become an answer, as often as a client likes to provoke it. To
 * collect the trace would take longer than all else that a refusal costs, and nobody would read it.
 */
export class QuietError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    setStackTraceLimit(0);
    super(message, options);
    setStackTraceLimit(stackTraceLimit);
  }
}

/** Read-only where the host runs with frozen intrinsics. */
const isWritable = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")?.writable === true;

function setStackTraceLimit(limit: number): void {
  if (isWritable) Error.stackTraceLimit = limit;
}
