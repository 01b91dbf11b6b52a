import { expect, it } from "vitest";
import { type AISDKModel, aiSDK } from "../../../src/ai-sdk.js";
import { upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";

it("a model's expressions are not tried on an address that no server takes", async () => {
  const asked: string[] = [];
  const model: AISDKModel = {
    specificationVersion: "v3",
    provider: "x",
    modelId: "m",
    supportedUrls: {
      get "image/*"() {
        asked.push("image/*");
        return [/^https:/];
      },
    },
    async doGenerate() {
      return { content: [{ type: "text", text: "ok" }], finishReason: { unified: "stop" }, usage: {}, warnings: [] };
    },
    async doStream() {
      throw new Error("not streamed");
    },
  };
  const show = async (url: string) => {
    const content = [{ type: "image_url", image_url: { url } }];
    const body = Buffer.from(JSON.stringify({ messages: [{ role: "user", content }] }));
    return (await aiSDK({ model }).call(upstreamCall({ body }))).status;
  };
  expect(await show("https://images.test/cat.png")).toBe(200);
  expect(asked).toEqual(["image/*"]);
  await expect(show(`https://images.test/${"a".repeat(9000)}.png`)).rejects.toThrow(/send the content itself/);
  expect(asked).toEqual(["image/*"]);
});
