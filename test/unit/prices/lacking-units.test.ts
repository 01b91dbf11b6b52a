import { expect, it } from "vitest";
import { addUnitTags, addUsed, type UsageCounts, withMissingUnits } from "../../../src/prices/usage-counts.js";

const none: UsageCounts = { input: 1, cachedInput: 0, output: 2, reasoning: 0 };

it("charges what nobody has counted as it was held", () => {
  const most = { ...none, input: 9, audioMs: 7_200_000, images: [{ count: 2 }] };
  expect(withMissingUnits(none, ["audioMs", "images"], most)).toEqual({
    ...none,
    audioMs: 7_200_000,
    images: most.images,
  });
  // None of it is counted, too.
  const counted = { ...none, audioMs: 0, images: [] };
  expect(withMissingUnits(counted, ["audioMs", "images"], most)).toBe(counted);
  expect(withMissingUnits(none, ["characters"], most)).toBe(none);
  // No sound is without tokens.
  expect(withMissingUnits({ ...none, input: 9 }, [], { ...none, inputAudio: 5 })).toMatchObject({ inputAudio: 5 });
  expect(withMissingUnits({ ...none, inputAudio: 0 }, [], { ...none, inputAudio: 5 })).toMatchObject({ inputAudio: 1 });
  const spoken = { ...none, outputAudio: 9 };
  expect(withMissingUnits(none, [], spoken, true)).toMatchObject({ outputAudio: 2 });
  expect(withMissingUnits(none, [], spoken)).toBe(none);
  const heard = { ...none, inputAudio: 1 };
  expect(withMissingUnits(heard, [], { ...none, inputAudio: 5 })).toBe(heard);
});

it("files what was counted beside plain tokens, and only that", () => {
  const tags: Record<string, string | number> = { input: 1 };
  addUnitTags(tags, none);
  expect(tags).toEqual({ input: 1 });
  const images = [{ quality: "high", size: "1024x1024", count: 2 }, { count: 1 }];
  addUnitTags(tags, { ...none, images, audioMs: 10, searches: 0, outputImage: 2 });
  expect(tags).toEqual({
    ...{ input: 1, images: 3, imagesBy: "high/1024x1024:2,*/*:1", audioMs: 10, searches: 0, outputImage: 2 },
  });
});

it("adds up what attempts have used", () => {
  const one = { ...none, images: [{ count: 1 }], characters: 3 };
  const other = { ...none, images: [{ size: "1x1", count: 2 }], audioMs: 4, inputImage: 1 };
  expect(addUsed(one, other)).toEqual({
    ...{ input: 2, cachedInput: 0, output: 4, reasoning: 0, inputImage: 1, characters: 3, audioMs: 4 },
    images: [{ count: 1 }, { size: "1x1", count: 2 }],
  });
  expect(addUsed(none, none)).toEqual({ input: 2, cachedInput: 0, output: 4, reasoning: 0 });
});
