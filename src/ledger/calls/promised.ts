/** As an async function does: what it throws rejects. It makes no promise of its own. */
export function promised<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return start();
  } catch (error) {
    return Promise.reject(error);
  }
}
