type End = () => Promise<void>;

/** A store that may send notices of its changes. */
interface Notifying {
  subscribe?(onChange: (name: string) => void): Promise<End> | End;
}

/** What subscribers of a store get. */
export interface HeardNotices {
  /** By one that has left, and has said so twice. */
  readonly gone: readonly string[];
  /** By one that stays. */
  readonly heard: string[];
  /** Ends the subscriptions. */
  end(): Promise<void>;
}

/**
 * Subscribes three: one that leaves at once, one that throws at every notice, and one that stays.
 * @returns `undefined` where the store sends no notices.
 */
export async function subscribeThree(store: Notifying): Promise<HeardNotices | undefined> {
  if (!store.subscribe) return undefined;
  const [gone, heard]: [string[], string[]] = [[], []];
  const endGone = await store.subscribe((name) => gone.push(name));
  const endThrowing = await store.subscribe(() => {
    throw new Error("an error of a subscriber");
  });
  const endHearing = await store.subscribe((name) => heard.push(name));
  await endGone();
  await endGone();
  // Of changes that were made before, it may have heard until here.
  gone.length = 0;
  return {
    gone,
    heard,
    async end() {
      await Promise.all([endThrowing(), endHearing()]);
    },
  };
}
