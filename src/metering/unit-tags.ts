import { imagesOf, tokenParts, type UsageCounts } from "./usage-counts.js";

/** Adds to a journal entry's tags what was counted beside plain tokens. */
export function addUnitTags(tags: Record<string, string | number>, used: UsageCounts): void {
  for (const name of [...tokenParts, "audioMs", "characters", "searches"] as const) {
    const count = used[name];
    if (count !== undefined) tags[name] = count;
  }
  const { images = [] } = used;
  const count = imagesOf(used);
  if (count !== undefined) tags["images"] = count;
  const isOfKind = images.some(({ quality, size }) => quality !== undefined || size !== undefined);
  if (!isOfKind) return;
  tags["imagesBy"] = images.map(({ quality = "*", size = "*", count }) => `${quality}/${size}:${count}`).join(",");
}
