import { callApi, fetchApi } from "../parts/api.js";
import { texts } from "./settings.js";

/** How an answer was made. */
export interface Trial {
  /** Of the request, for what it cost. */
  readonly id: string;
  readonly input: number;
  readonly output: number;
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string };
  }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null;
  readonly error?: { readonly message?: string };
}

/**
 * Asks a model, and gives each piece of its answer as it comes.
 * @throws ApiError when it is refused; an Error with the server's words when the stream breaks.
 */
export async function askModel(
  model: string,
  question: string,
  { onPiece, signal }: { onPiece: (text: string) => void; signal: AbortSignal },
): Promise<Trial> {
  const body = { model, messages: [{ role: "user", content: question }] };
  const response = await fetchApi("try", { method: "POST", body, signal });
  let usage: Chunk["usage"];
  for await (const data of eventsOf(response)) {
    if (data === "[DONE]") break;
    const chunk: Chunk = JSON.parse(data);
    if (chunk.error) throw new Error(chunk.error.message ?? texts.failed);
    onPiece(chunk.choices?.[0]?.delta?.content ?? "");
    usage = chunk.usage ?? usage;
  }
  const id = response.headers.get("x-request-id") ?? "";
  return { id, input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 };
}

/** The `data:` of each event. */
async function* eventsOf({ body }: Response): AsyncGenerator<string, void> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
}

const waitsMs = [100, 300, 800, 2000, 4000];

/** What a call cost. It is settled a moment after its answer. @returns `undefined`: it cannot be told. */
export async function costOf(id: string): Promise<number | undefined> {
  for (const wait of waitsMs) {
    const { credits } = await callApi<{ credits: number | null }>(`charges/${encodeURIComponent(id)}`);
    if (credits !== null) return credits;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  return undefined;
}
