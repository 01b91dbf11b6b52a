import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { convertToModelMessages, streamText, type UIMessage } from "ai";
import { Router } from "express";
import { gateway } from "../gateway.js";
import { requireUser, userOf } from "../signed-in.js";

/** What `useChat` in the page calls. */
export const chat = Router().use(requireUser);

chat.post("/", async (req, res) => {
  const { messages, model = "acme/small" } = req.body as { messages: UIMessage[]; model?: string };
  const left = new AbortController();
  res.once("close", () => left.abort());
  const { baseURL, fetch } = gateway.as({ account: userOf(res).id, tags: { feature: "chat" } });
  const acme = createOpenAICompatible({ name: "acme", baseURL, fetch, includeUsage: true });
  const answer = streamText({
    model: acme(model),
    messages: await convertToModelMessages(messages),
    abortSignal: left.signal,
    onError: () => {}, // The page shows it.
  });
  await answer.pipeUIMessageStreamToResponse(res, {
    onError: (error) => (error instanceof Error ? error.message : "Failed."),
  });
});
