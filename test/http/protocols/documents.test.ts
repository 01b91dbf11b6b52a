import { expect, it } from "vitest";
import { startTestGateway } from "../../support/test-gateway.js";

const data = "data:application/pdf;base64,JVBERi0=";
const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const document = { type: "document", source };
const call = { type: "tool_use", id: "call_1", name: "read", input: {} };

const ofMessages = (content: unknown) => ({ model: "acme/small", max_tokens: 50, messages: content });
const ofResponses = (content: unknown) => ({ model: "acme/small", input: content });

it.each([
  ["a Messages client", "messages", ofMessages([{ role: "user", content: [document] }])],
  [
    "a tool of a Messages client",
    "messages",
    ofMessages([
      { role: "assistant", content: [call] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: [document] }] },
    ]),
  ],
  [
    "a Responses client",
    "responses",
    ofResponses([{ role: "user", content: [{ type: "input_file", filename: "document.pdf", file_data: data }] }]),
  ],
])("a document of %s goes as a file to a server that speaks chat completions", async (_whose, path, body) => {
  const test = await startTestGateway();
  try {
    const response = await test.gateway.handler(
      new Request(`http://gateway.test/v1/${path}`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    expect(response.status).toBe(200);
    expect(test.upstream.lastRequest.json.messages.at(-1)).toEqual({
      role: "user",
      content: [{ type: "file", file: { filename: "document.pdf", file_data: data } }],
    });
  } finally {
    await test.close();
  }
});
