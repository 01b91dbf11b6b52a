import { afterEach, beforeEach, describe } from "vitest";
import { type OpenAICompatibleOptions, openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";

/** What a test gets: an upstream, and providers that lead to it or elsewhere. */
export interface ProviderHarness {
  upstream: FakeUpstream;
  /** Over the transport under test; closed after the test. */
  provider(options?: Partial<OpenAICompatibleOptions>): UpstreamProvider;
}

/** Runs the tests over each transport. Every test ends without an open connection. */
export function describeTransports(
  name: string,
  tests: (harness: ProviderHarness, transport: "undici" | "fetch") => void,
): void {
  describe.each(["undici", "fetch"] as const)(`${name}, over %s`, (transport) =>
    tests(useProviders(transport), transport),
  );
}

/** The same for one transport. */
export function useProviders(transport: "undici" | "fetch"): ProviderHarness {
  let upstream: FakeUpstream | undefined;
  let providers: UpstreamProvider[] = [];
  beforeEach(async () => {
    upstream = await startFakeUpstream();
    providers = [];
  });
  afterEach(async () => {
    for (const provider of providers) await provider.close?.();
    // The connections of the global fetch are not ours to close.
    if (transport === "undici") await upstream?.idle();
    await upstream?.close();
  });
  return {
    get upstream() {
      if (!upstream) throw new Error("The upstream is only there within a test.");
      return upstream;
    },
    provider(options = {}) {
      const provider = openAICompatible({
        baseURL: this.upstream.url,
        apiKey: "sk-upstream",
        ...(transport === "fetch" ? { fetch: globalThis.fetch } : {}),
        ...options,
      });
      providers.push(provider);
      return provider;
    },
  };
}

/** Lets pending I/O happen: one round of the event loop. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** For tests of time itself. */
export function elapse(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
