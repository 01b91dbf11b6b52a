import { letters, samplesPerLetter, samplesPerSecond, toneOf } from "./speak-sentence.js";

const headerBytes = 44;

/** Writes down what `speakSentence` has spoken. */
export function hearSentence(wav: Buffer): { text: string; seconds?: number } {
  const isOwn = wav.length > headerBytes && wav.readUInt32LE(24) === samplesPerSecond;
  if (!isOwn) return { text: "(a sound that is not the demo's own)" };
  const bytes = wav.subarray(headerBytes);
  const samples = Array.from({ length: Math.floor(bytes.length / 2) }, (_, at) => bytes.readInt16LE(at * 2));
  let text = "";
  for (let at = 0; at < samples.length; at += samplesPerLetter) {
    text += letterOf(samples.slice(at, at + samplesPerLetter));
  }
  return { text: text.trim(), seconds: samples.length / samplesPerSecond };
}

function letterOf(samples: readonly number[]): string {
  if (samples.every((sample) => sample === 0)) return " ";
  const loudness = [...letters].map((letter) => strengthOf(toneOf(letter), samples));
  return letters[loudness.indexOf(Math.max(...loudness))] ?? " ";
}

/** How much of a tone there is in a sound. */
function strengthOf(hertz: number, samples: readonly number[]): number {
  let [sine, cosine] = [0, 0];
  samples.forEach((sample, at) => {
    const angle = (2 * Math.PI * hertz * at) / samplesPerSecond;
    sine += sample * Math.sin(angle);
    cosine += sample * Math.cos(angle);
  });
  return Math.hypot(sine, cosine);
}
