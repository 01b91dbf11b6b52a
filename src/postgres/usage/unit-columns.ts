import { type CountedUnit, usageUnits } from "../../metering/usage-counts.js";

const columns = { images: "images", audioMs: "audio_ms", characters: "characters", searches: "searches" } as const;

/** The columns of what is summed up beside tokens, in the order of {@link usageUnits}. */
export const unitColumns = usageUnits.map((unit: CountedUnit) => columns[unit]);

/** Of entries that have none of them, none is looked for. */
export const unitTags = `array[${usageUnits.map((unit) => `'${unit}'`).join(", ")}]`;

/** Each column, with the tag that it sums up. */
export const unitPairs = usageUnits.map((unit: CountedUnit) => [columns[unit], unit] as const);
