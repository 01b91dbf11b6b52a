import { useRef, useState } from "preact/hooks";

/** Something that a reader does, such as a form that is sent. */
export interface Action {
  /** Does it, unless it is being done already: a double click is one. */
  run(): void;
  readonly isBusy: boolean;
  /** Why it failed the last time. */
  readonly error: Error | undefined;
}

export function useAction(act: () => Promise<void>): Action {
  const busy = useRef(false);
  const [{ isBusy, error }, show] = useState<Pick<Action, "isBusy" | "error">>({ isBusy: false, error: undefined });
  const run = async () => {
    if (busy.current) return;
    busy.current = true;
    show({ isBusy: true, error: undefined });
    const failure = await act().then(
      () => undefined,
      (thrown) => thrown as Error,
    );
    busy.current = false;
    show({ isBusy: false, error: failure });
  };
  return { run: () => void run(), isBusy, error };
}
