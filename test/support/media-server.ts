import { onTestFinished } from "vitest";
import type { Model } from "../../src/gateway/models/model.js";
import type { Dialect } from "../../src/protocols/shared/dialect.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import type { UpstreamOperation, UpstreamProvider } from "../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream } from "../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../e2e/clients/start-server.js";

/** What a test of images or audio needs. */
export interface MediaOptions extends Omit<ServerOptions, "models"> {
  readonly models: readonly Model[];
  readonly operations: readonly UpstreamOperation[];
  readonly dialect?: Dialect;
  /** What `fake` and `other` are wrapped in. */
  readonly wrap?: (provider: UpstreamProvider) => UpstreamProvider;
  /** Beside `fake` and `other`. */
  readonly moreProviders?: Readonly<Record<string, UpstreamProvider>>;
}

export interface MediaServer extends ClientServer {
  /** Behind the provider `fake`. */
  readonly server: FakeUpstream;
  /** Behind the provider `other`. */
  readonly other: FakeUpstream;
  post(path: string, body: object | string, headers?: Record<string, string>): Promise<Response>;
}

/** A gateway on loopback before two model servers. It closes with the test, when its books must balance. */
export async function startMedia({
  operations,
  dialect,
  wrap = (provider) => provider,
  moreProviders,
  ...options
}: MediaOptions): Promise<MediaServer> {
  const [server, other] = [await startFakeUpstream(), await startFakeUpstream()];
  onTestFinished(async () => void (await Promise.all([server.close(), other.close()])));
  const provider = ({ url }: FakeUpstream) =>
    wrap(openAICompatible({ baseURL: url, operations, dialect: { strictMembers: true, ...dialect } }));
  const started = await startServer({
    providers: { fake: provider(server), other: provider(other), ...moreProviders },
    ...options,
    models: [...options.models],
  });
  // Before its servers.
  onTestFinished(() => started.close());
  const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
    fetch(`${started.baseURL}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...started, server, other, post };
}
