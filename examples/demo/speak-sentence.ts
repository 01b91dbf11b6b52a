export const samplesPerSecond = 8_000;
export const samplesPerLetter = samplesPerSecond * 0.06;
export const letters = "abcdefghijklmnopqrstuvwxyz";
const longest = 200;

/** In hertz. */
export function toneOf(letter: string): number {
  return 220 * 2 ** (letters.indexOf(letter) / 12);
}

/** A sentence as a WAV: a tone for each letter, the higher the later it stands in the alphabet, and rests between words. */
export function speakSentence(sentence: string): Buffer {
  const characters = [...sentence.toLowerCase()].slice(0, longest);
  const samples = Buffer.alloc(characters.length * samplesPerLetter * 2);
  characters.forEach((character, index) => {
    const hertz = letters.includes(character) ? toneOf(character) : 0;
    for (let at = 0; at < samplesPerLetter; at++) {
      // Tones begin and end softly.
      const loudness = 8_000 * Math.sin((Math.PI * at) / samplesPerLetter);
      const sample = Math.round(loudness * Math.sin((2 * Math.PI * hertz * at) / samplesPerSecond));
      samples.writeInt16LE(sample, (index * samplesPerLetter + at) * 2);
    }
  });
  return Buffer.concat([header(samples.length), samples]);
}

/** Of one channel of samples of 16 bits. */
function header(bytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + bytes, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(bytes, 40);
  return head;
}
