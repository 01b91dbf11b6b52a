import { type SummedUnit, summedUnits } from "../../metering/usage-counts.js";

const columns = {
  ...{ images: "images", audioMs: "audio_ms", characters: "characters", searches: "searches" },
  ...{ inputImage: "input_image", inputAudio: "input_audio" },
  ...{ cachedInputImage: "cached_input_image", cachedInputAudio: "cached_input_audio" },
  ...{ outputImage: "output_image", outputAudio: "output_audio" },
} as const;

/** The columns of what is summed up beside tokens, in the order of {@link summedUnits}. */
export const unitColumns = summedUnits.map((unit: SummedUnit) => columns[unit]);

/** Of entries that have none of them, none is looked for. */
export const unitTags = `array[${summedUnits.map((unit) => `'${unit}'`).join(", ")}]`;

/** Each column, with the tag that it sums up. */
export const unitPairs = summedUnits.map((unit: SummedUnit) => [columns[unit], unit] as const);
