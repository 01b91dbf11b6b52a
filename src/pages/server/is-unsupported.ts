/** Whether the gateway lacks a store for what was asked: by shape, since it may come from another copy of the package. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof TypeError && "status" in error && error.status === 501;
}
