/** Whether the gateway lacks a store for what was asked: by shape, since it may come from another copy of the package. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof TypeError && "status" in error && error.status === 501;
}

/** @returns `undefined` where the gateway has no store for it. */
export async function unlessUnsupported<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (isUnsupported(error)) return undefined;
    throw error;
  }
}
