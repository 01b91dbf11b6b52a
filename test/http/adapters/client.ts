/** The headers of a call with the pro account's key. */
export const authorized = { authorization: "Bearer sk-pro" } as const;

/** What `fetch` takes to call `/v1/chat/completions` as the OpenAI SDK does. */
export function chatCall(body: Record<string, unknown> = {}, init: RequestInit = {}): RequestInit {
  return {
    method: "POST",
    headers: { ...authorized, "content-type": "application/json" },
    body: chatBody(body),
    ...init,
  };
}

export function chatBody(body: Record<string, unknown> = {}): string {
  return JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Say hello." }], ...body });
}

/** The status and the error's code. */
export async function refusal(response: Response): Promise<[status: number, code: unknown]> {
  const { error } = (await response.json()) as { error: { code: unknown } };
  return [response.status, error.code];
}

/** Reads a stream piece by piece, as text. */
export function readPieces(response: Response): { next(): Promise<string | undefined>; cancel(): Promise<void> } {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  return {
    async next() {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      return done ? undefined : decoder.decode(value, { stream: true });
    },
    cancel: async () => await reader?.cancel(),
  };
}

/** Waits until something holds that no event announces. */
export async function eventually(isTrue: () => boolean, withinMs = 30_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
