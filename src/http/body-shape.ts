import type { ArrivingBody } from "./arriving-body.js";

/** What whoever reads a body gets. */
export interface BodyShape<Body> {
  /** Of a body that was there at once. */
  of(bytes: Uint8Array): Body;
  /** Of one that has come to its end. @returns `undefined` when it was over before. */
  end(arriving: ArrivingBody): Body | undefined;
}

export const inOnePiece: BodyShape<Uint8Array> = {
  of: (bytes) => bytes,
  end: (arriving) => arriving.end(),
};

/** As it came: a large body is not there twice, not even for a moment. */
export const inPieces: BodyShape<readonly Uint8Array[]> = {
  of: (bytes) => [bytes],
  end: (arriving) => arriving.endInPieces(),
};
