import type { Model, UpstreamAnswer, UpstreamCall, UpstreamProvider } from "infergate";
import { drawPicture } from "./draw-picture.js";
import { speakSentence } from "./speak-sentence.js";

/** What `demoMedia` draws and speaks, with what that costs: credits an image, and credits per million characters. */
export const mediaModels: readonly Model[] = [
  {
    ...{ id: "acme/paint", type: "image", price: { images: [{ quality: "high", credits: 0.4 }, { credits: 0.1 }] } },
    upstream: { provider: "media", model: "demo-paint" },
  },
  {
    ...{ id: "acme/voice", type: "speech", price: { characters: 2_000 } },
    upstream: { provider: "media", model: "demo-voice" },
  },
];

/** The members of both requests that it reads. */
interface MediaBody {
  prompt?: string;
  n?: number | null;
  quality?: string | null;
  input?: string;
}

/** A server of pictures and speech without a server, as `demoModel` is one of texts. Its pictures are PNG, its speech is WAV. */
export function demoMedia(): UpstreamProvider {
  return {
    operations: ["images/generations", "audio/speech"],
    async call({ endpoint, body }: UpstreamCall): Promise<UpstreamAnswer> {
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

function whole(contentType: string, bytes: Buffer): UpstreamAnswer {
  return { status: 200, headers: { "content-type": contentType }, body: once(bytes) };
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
