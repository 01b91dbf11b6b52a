import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "./client.js";

/** Asserts that nothing of this file's tests has reached the process, and that no connection is left over. */
export function watchProcess(): void {
  const caught: unknown[] = [];
  const take = (error: unknown) => void caught.push(error);
  beforeAll(() => {
    process.on("uncaughtException", take).on("unhandledRejection", take).on("warning", take);
  });
  afterAll(async () => {
    await eventually(() => !process.getActiveResourcesInfo().some((name) => /^TCP/.test(name)));
    process.off("uncaughtException", take).off("unhandledRejection", take).off("warning", take);
    expect(caught).toEqual([]);
  });
}
