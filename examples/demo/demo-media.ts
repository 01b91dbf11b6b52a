import type { Model, UpstreamCall, UpstreamProvider, UpstreamResponse } from "infergate";
import { drawPicture } from "./draw-picture.js";
import { hearSentence } from "./hear-sentence.js";
import { speakSentence } from "./speak-sentence.js";

/** What `demoMedia` draws, speaks and hears, with what that costs: credits an image, per million characters, and a minute. */
export const mediaModels: readonly Model[] = [
  {
    ...{ id: "acme/paint", type: "image", price: { images: [{ quality: "high", credits: 0.4 }, { credits: 0.1 }] } },
    upstream: { provider: "media", model: "demo-paint" },
  },
  {
    ...{ id: "acme/voice", type: "speech", price: { characters: 2_000 } },
    upstream: { provider: "media", model: "demo-voice" },
  },
  {
    ...{ id: "acme/hear", type: "transcription", price: { audioMinute: 2 } },
    upstream: { provider: "media", model: "demo-hear" },
  },
];

/** The members of requests in JSON that it reads. */
interface MediaBody {
  prompt?: string;
  n?: number | null;
  quality?: string | null;
  input?: string;
}

/** A server of pictures and sound without a server, as `demoModel` is one of texts. Its pictures are PNG, its sound is WAV. */
export function demoMedia(): UpstreamProvider {
  return {
    operations: ["images/generations", "audio/speech", "audio/transcriptions"],
    async call({ endpoint, body, contentType = "" }: UpstreamCall): Promise<UpstreamResponse> {
      if (endpoint === "audio/transcriptions") return await transcript(body, contentType);
      const { prompt = "", n, quality: asked, input = "" } = JSON.parse(Buffer.from(body).toString()) as MediaBody;
      if (endpoint === "audio/speech") return whole("audio/wav", speakSentence(input));
      const quality = asked === "high" ? "high" : "low";
      const side = quality === "high" ? 256 : 64;
      const data = Array.from({ length: n ?? 1 }, (_, index) => ({
        b64_json: drawPicture(`${prompt} ${index}`, side).toString("base64"),
      }));
      const kind = { quality, size: `${side}x${side}`, output_format: "png" };
      const images = JSON.stringify({ created: Math.floor(Date.now() / 1000), ...kind, data });
      return whole("application/json", Buffer.from(images));
    },
  };
}

/** The gateway asks for one of two formats, and makes all others of these. */
async function transcript(body: Uint8Array, contentType: string): Promise<UpstreamResponse> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const file = form.get("file") as File;
  const { text, seconds } = hearSentence(Buffer.from(await file.arrayBuffer()));
  const isVerbose = form.get("response_format") === "verbose_json";
  const heard = {
    text,
    ...(isVerbose && { language: "demo", duration: seconds, segments: [{ id: 0, start: 0, end: seconds ?? 0, text }] }),
    ...(seconds !== undefined && { usage: { type: "duration", seconds } }),
  };
  return whole("application/json", Buffer.from(JSON.stringify(heard)));
}

function whole(contentType: string, bytes: Buffer): UpstreamResponse {
  return { status: 200, headers: { "content-type": contentType }, body: once(bytes) };
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
