import { afterAll, beforeAll } from "vitest";

/** Where openai, the AI SDK and LangChain wait before they try again. Their time-outs are made elsewhere. */
const backOff = /[\\/]openai[\\/]internal[\\/]utils[\\/]sleep\.|provider-utils[\\/]dist[\\/]|utils[\\/]p-retry[\\/]/;

/**
 * Cuts the clients' own waits between two attempts to nothing, and leaves every other timer alone: a gateway and its
 * upstream run in the same process. Should a client move its waiting elsewhere, tests only get slower.
 */
export function shortenWaits(): void {
  const { setTimeout: realSetTimeout } = globalThis;
  beforeAll(() => {
    const replaced = (callback: (...values: unknown[]) => void, delay?: number, ...values: unknown[]) =>
      realSetTimeout(callback, backOff.test(callerOfTimer()) ? 1 : delay, ...values);
    globalThis.setTimeout = Object.assign(replaced, realSetTimeout) as typeof setTimeout;
  });
  afterAll(() => {
    globalThis.setTimeout = realSetTimeout;
  });
}

/** The line of the stack that called `setTimeout`: behind the message, this function and the replacement. */
function callerOfTimer(): string {
  return new Error().stack?.split("\n")[3] ?? "";
}
