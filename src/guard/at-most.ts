/** Waits for it so long and no longer. */
export async function atMost(ms: number, awaited: Promise<void> | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([awaited, over]);
  clearTimeout(timer);
}
