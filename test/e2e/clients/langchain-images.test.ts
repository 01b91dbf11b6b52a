import { DallEAPIWrapper } from "@langchain/openai";
import { afterAll, describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../src/testing.js";
import { madeImage } from "../../support/honest-server.js";
import { rowModel, startImages } from "../../support/operations/images/image-samples.js";
import { expectNoSockets } from "./start-server.js";

afterAll(expectNoSockets);

const url = "https://images.test/a.png";
const b64_json = madeImage.toString("base64");
const toolOf = (baseUrl: string, more: ConstructorParameters<typeof DallEAPIWrapper>[0] = {}) =>
  new DallEAPIWrapper({ model: "acme/paint", apiKey: "sk-pro", baseUrl, ...more });

describe("LangChain's tool for images", () => {
  it("gets an address of each image, with a call for each", async () => {
    const { baseURL, server, events, checkBooks } = await startImages();
    server.reply(wholeAnswer({ created: 1_700_000_000, data: [{ url }] }));
    expect(await toolOf(baseURL).invoke("A hat")).toBe(url);
    expect(await toolOf(baseURL, { n: 2 }).invoke("A hat")).toEqual(
      Array(2).fill({ type: "image_url", image_url: url }),
    );
    expect(server.requests).toHaveLength(3);
    expect(server.lastRequest.json).toEqual({
      ...{ model: "dall-e-3", prompt: "A hat", n: 1, size: "1024x1024", response_format: "url" },
      ...{ style: "vivid", quality: "standard" },
    });
    await checkBooks();
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([40_000, 40_000, 40_000]);
  });

  it("gets the images themselves from a server that gives no addresses, where it asks for them", async () => {
    const models = [{ ...rowModel, upstream: { provider: "fake", model: "gpt-image-1" } }];
    const { baseURL, server, checkBooks } = await startImages({ models });
    server.reply(wholeAnswer({ created: 1_700_000_000, data: [{ b64_json }] }));
    // Its default is a refusal that says why, before any call.
    const refused = toolOf(baseURL).invoke("A hat");
    await expect(refused).rejects.toThrow(
      "'acme/paint' gives images as 'b64_json' alone. Leave 'response_format' out, or send 'b64_json'.",
    );
    expect(server.requests).toHaveLength(0);
    expect(await toolOf(baseURL, { dallEResponseFormat: "b64_json" }).invoke("A hat")).toBe(b64_json);
    expect(server.lastRequest.json).not.toHaveProperty("response_format");
    await checkBooks();
  });
});
