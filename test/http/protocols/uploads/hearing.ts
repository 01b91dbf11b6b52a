import type { Model } from "../../../../src/gateway/models/model.js";

export const path = "audio/transcriptions";

export const hear: Model = {
  id: "acme/hear",
  type: "transcription",
  maxAudioSeconds: 60,
  price: { audioMinute: 0.006 },
  upstream: { provider: "fake", model: "whisper-1" },
};

export const heard = { text: "Hi there.", usage: { type: "duration", seconds: 1 } };

export const heardEvents = [
  { type: "transcript.text.delta", delta: "Hi " },
  { type: "transcript.text.delta", delta: "there." },
  { type: "transcript.text.done", text: "Hi there.", usage: heard.usage },
];
