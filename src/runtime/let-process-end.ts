/** Lets the process end while this timer runs. On some runtimes a timer is a number, and keeps no process alive. */
export function letProcessEnd(timer: ReturnType<typeof setTimeout | typeof setInterval> | undefined): void {
  if (typeof timer === "object") timer.unref?.();
}
