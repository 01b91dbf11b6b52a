/** The least vocabulary of Whisper's: its tokens have fixed places. Behind the words come those that steer it. */
const vocabulary = 51_864;
const [endOfText, firstTime] = [50_256, 50_363];

const width = 64;
const heads = 1;
/** Of the audio: half a minute. The model writes of it all alike. */
const audioLength = 1500;
const textLength = 64;
const [melBands, melBins] = [80, 201];

const matricesIn16Bits = 1;
/** Matrices have zeros and ones alone. */
const oneIn16Bits = 0x3c00;

/** How far behind the start of each half minute the sentence ends: in hundredths of two seconds. */
const sentenceEnd = 500;

/**
 * A model of the architecture of Whisper that hears nothing: it writes a sentence of its own for each half minute, which ends
 * after ten seconds of it. It is in the older format of ggml, which whisper.cpp reads.
 * @param words - the pieces of the sentence, at most 40; each with the space that it begins with.
 */
export function sentenceModel(words: readonly string[]): Buffer {
  const file: Buffer[] = [];
  const ints = (...values: number[]) => file.push(Buffer.from(Int32Array.from(values).buffer));
  const floats = (values: Float32Array) => file.push(Buffer.from(values.buffer));

  const sizes = [vocabulary, audioLength, width, heads, 1, textLength, width, heads, 1, melBands];
  ints(0x67676d6c, ...sizes, matricesIn16Bits);
  ints(melBands, melBins);
  floats(new Float32Array(melBands * melBins).fill(0.001));

  const spelled = [" ", ...words];
  ints(spelled.length);
  for (const word of spelled) {
    const bytes = Buffer.from(word);
    ints(bytes.length);
    file.push(bytes);
  }

  // What stands at a place of the text points at the token that follows: each of them is a direction of its own.
  const follows = [firstTime, ...words.map((_, place) => place + 1), firstTime + sentenceEnd, endOfText];
  const embedding = new Float32Array(vocabulary * width);
  const places = new Float32Array(textLength * width);
  for (const [direction, token] of [...new Set(follows)].entries()) {
    embedding[token * width + direction] = 1;
    for (const [place, next] of follows.entries()) if (next === token) places[place * width + direction] = 1000;
  }
  for (let place = follows.length; place < textLength; place++) {
    places.copyWithin(place * width, (follows.length - 1) * width, follows.length * width);
  }

  const tensor = (name: string, shape: readonly number[], data?: Float32Array) => {
    const values = data ?? new Float32Array(shape.reduce((product, side) => product * side, 1));
    const isMatrix = name.endsWith("weight") && shape.length > 1;
    ints(shape.length, Buffer.byteLength(name), isMatrix ? matricesIn16Bits : 0, ...shape);
    file.push(Buffer.from(name));
    if (isMatrix) file.push(Buffer.from(Uint16Array.from(values, (value) => value * oneIn16Bits).buffer));
    else floats(values);
  };
  const norm = (name: string) => {
    tensor(`${name}.weight`, [width], new Float32Array(width).fill(1));
    tensor(`${name}.bias`, [width]);
  };
  const attention = (name: string) => {
    norm(`${name}_ln`);
    for (const part of ["query", "key", "value", "out"]) {
      tensor(`${name}.${part}.weight`, [width, width]);
      if (part !== "key") tensor(`${name}.${part}.bias`, [width]);
    }
  };
  const perceptron = (name: string) => {
    norm(`${name}.mlp_ln`);
    tensor(`${name}.mlp.0.weight`, [width, 4 * width]);
    tensor(`${name}.mlp.0.bias`, [4 * width]);
    tensor(`${name}.mlp.2.weight`, [4 * width, width]);
    tensor(`${name}.mlp.2.bias`, [width]);
  };
  tensor("encoder.positional_embedding", [width, audioLength]);
  tensor("encoder.conv1.weight", [3, melBands, width]);
  tensor("encoder.conv1.bias", [1, width]);
  tensor("encoder.conv2.weight", [3, width, width]);
  tensor("encoder.conv2.bias", [1, width]);
  norm("encoder.ln_post");
  attention("encoder.blocks.0.attn");
  perceptron("encoder.blocks.0");
  tensor("decoder.positional_embedding", [width, textLength], places);
  tensor("decoder.token_embedding.weight", [width, vocabulary], embedding);
  tensor("decoder.ln.weight", [width], new Float32Array(width).fill(10));
  tensor("decoder.ln.bias", [width]);
  attention("decoder.blocks.0.attn");
  attention("decoder.blocks.0.cross_attn");
  perceptron("decoder.blocks.0");
  return Buffer.concat(file);
}
