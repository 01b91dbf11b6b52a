import { onTestFinished } from "vitest";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import type { TargetOptions } from "../../../src/gateway/models/target-options.js";
import { startFakeUpstream } from "../../../src/testing.js";
import { startTestGateway } from "../../support/test-gateway.js";

/** A gateway before a model of the AI SDK, whose server is `server`. @param make - makes the model of a name. */
export async function startMedia(make: (origin: string, name: string) => AISDKModel, model: Model) {
  const server = await startFakeUpstream();
  onTestFinished(() => server.close());
  const test = await startTestGateway({
    models: [{ ...model, upstream: { ...model.upstream, provider: "sdk" } as TargetOptions }],
    providers: { sdk: aiSDK({ model: (name) => make(server.origin, name) }) },
  });
  onTestFinished(() => test.close());
  const send = (path: string, body: string | FormData) =>
    test.gateway.handler(
      new Request(`http://gateway.test/v1/${path}`, {
        method: "POST",
        headers: {
          authorization: "Bearer sk-pro",
          ...(typeof body === "string" && { "content-type": "application/json" }),
        },
        body,
      }),
    );
  return { ...test, server, send };
}
