/** What is counted of one target's calls. It outlives changes of the catalog that keep the target. */
export class TargetLoad {
  /** Calls in progress. */
  active = 0;
  answered = 0;
  failed = 0;
  /** Until when the upstream asked for a pause, in epoch milliseconds. */
  restsUntil = 0;
  /** Called when a call has left, so that a waiting one can take its place. */
  freed: (() => void) | undefined;
  /** Called when the target is well again, so that all that wait can go on. */
  reopened: (() => void) | undefined;
}
