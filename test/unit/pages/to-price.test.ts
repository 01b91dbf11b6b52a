import { expect, it } from "vitest";
import { toPrice } from "../../../src/pages/account/model-routes.js";

it("has each part of a price, by the reader's factor", () => {
  const images = [{ quality: "high", size: "1024x1024", credits: 0.2 }, { credits: 0.1 }];
  expect(toPrice({ input: 1, cacheWrite1h: 3, audioMinute: 0.006, images }, 2)).toEqual({
    ...{ input: 2, cached_input: null, output: null, request: null },
    others: [
      { part: "cache_write_1h", of: null, credits: 6 },
      { part: "audio_minute", of: null, credits: 0.012 },
      { part: "image", of: "high 1024x1024", credits: 0.4 },
      { part: "image", of: null, credits: 0.2 },
    ],
  });
});

it("has no price of tokens where a model has none", () => {
  expect(toPrice({ characters: 15, searches: 2 }, 0.5)).toEqual({
    ...{ input: null, cached_input: null, output: null, request: null },
    others: [
      { part: "characters", of: null, credits: 7.5 },
      { part: "searches", of: null, credits: 1 },
    ],
  });
});

it("has larger prompts and other tiers beside the others, with the reader's factor", () => {
  const steps = [{ above: 200_000, input: 6, cachedInput: 0.6 }];
  const price = {
    input: 3,
    output: 15,
    steps,
    tiers: { priority: { output: 30, steps: [{ above: 10, output: 60 }] } },
  };
  expect(toPrice(price, 0.5)).toEqual({
    ...{ input: 1.5, cached_input: null, output: 7.5, request: null },
    others: [
      { part: "input", of: ">200000", credits: 3 },
      { part: "cached_input", of: ">200000", credits: 0.3 },
      { part: "output", of: "priority", credits: 15 },
      { part: "output", of: "priority >10", credits: 30 },
    ],
  });
});
