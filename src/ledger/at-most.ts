/** Waits for a promise, for `ms` milliseconds at most. The timer does not keep the process alive. */
export async function atMost(ms: number, awaited: Promise<unknown> | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    if (typeof timer === "object") timer.unref?.();
  });
  try {
    await Promise.race([awaited, over]);
  } finally {
    clearTimeout(timer);
  }
}
