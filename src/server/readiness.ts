/** Whether load balancers should send new requests to this gateway. */
export class Readiness {
  #isReady = true;

  get isReady(): boolean {
    return this.#isReady;
  }

  /** From now on they should not. There is no way back. */
  end(): void {
    this.#isReady = false;
  }
}
